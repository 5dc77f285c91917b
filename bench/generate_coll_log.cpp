// Writes the NCCL log of a healthy training job, as large as asked for: 64 ranks on 8 hosts, NCCL
// 2.21.5 with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL.
//
//   generate_coll_log --megabytes 500 > all.log     one stream, as a launcher merges it
//   generate_coll_log --megabytes 500 --files DIR   a file for each rank
//
// The same flags give the same bytes.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kHosts = 8;
constexpr int kGpusPerHost = 8;
constexpr int kRanks = kHosts * kGpusPerHost;

// How much stdio collects before it writes: ranks that share a file alternate in such blocks.
constexpr std::size_t kBlockBytes = 4096;

constexpr std::string_view kBusIds[kGpusPerHost] = {"19000", "3b000", "4c000", "5d000",
                                                    "9b000", "bb000", "cb000", "db000"};

struct Options {
  std::uint64_t megabytes = 500;
  std::uint64_t seed = 1;
  std::string files;  // a folder; empty: one stream to stdout
};

// One call of the training loop, the same on every rank.
struct Call {
  std::string_view function;
  std::uint64_t count;
  int datatype;
  bool within_host;  // on the tensor-parallel communicator
};

constexpr int kFloat32 = 7;
constexpr int kBfloat16 = 9;

// An iteration of a sharded transformer: each layer gathers its parameters going forward and again
// going backward, reduces activations within the host, and scatters its gradients.
std::vector<Call> training_iteration() {
  constexpr int kLayers = 6;
  constexpr std::uint64_t kShard = 3'162'112;         // a layer's parameters, by 64 ranks
  constexpr std::uint64_t kActivations = 33'554'432;  // batch x sequence x hidden
  constexpr std::uint64_t kEmbeddingShard = 4'104'192;
  const Call gather{"AllGather", kShard, kBfloat16, false};
  const Call scatter{"ReduceScatter", kShard, kBfloat16, false};
  const Call activations{"AllReduce", kActivations, kBfloat16, true};

  std::vector<Call> calls{{"AllGather", kEmbeddingShard, kBfloat16, false}};
  for (int layer = 0; layer < kLayers; ++layer)
    calls.insert(calls.end(), {gather, activations, activations});
  for (int layer = 0; layer < kLayers; ++layer)
    calls.insert(calls.end(), {gather, activations, activations, scatter});
  calls.insert(calls.end(), {{"ReduceScatter", kEmbeddingShard, kBfloat16, false},
                             {"AllReduce", 7'382'228, kFloat32, false},  // what is not sharded
                             {"AllReduce", 1, kFloat32, false},          // gradient norm
                             {"AllReduce", 2, kFloat32, false}});        // loss, token count
  return calls;
}

void append_hex(std::string& text, std::uint64_t value) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), value, 16).ptr;
  text.append(digits.begin(), end);
}

std::string hex(std::uint64_t value) {
  std::string text = "0x";
  append_hex(text, value);
  return text;
}

// An address in the upper half of a process's memory, where heap and CUDA allocations are.
std::uint64_t pointer(std::mt19937_64& random, std::uint64_t alignment) {
  return 0x7f0000000000 + random() % 0xff00000000 / alignment * alignment;
}

struct Communicator {
  std::uint64_t address = 0;
  std::uint64_t id = 0;  // the same on all members
  std::uint64_t stream = 0;
  int rank = 0;
  int nranks = 0;
  std::uint64_t op_count = 0;
};

// Writes the lines of one process.
class Rank {
 public:
  Rank(int rank, std::uint64_t world_id, std::uint64_t host_id, std::mt19937_64& random)
      : rank_(rank), random_(random()) {
    const int host = rank / kGpusPerHost;
    const int device = rank % kGpusPerHost;
    const auto pid = 40'000 + 311 * host + 17 * device;
    const auto prefix = [&](int thread) {
      return "gpu-node-" + std::to_string(host + 1) + ":" + std::to_string(pid) + ":" +
             std::to_string(thread) + " [" + std::to_string(device) + "] NCCL INFO ";
    };
    init_prefix_ = prefix(pid + 1'204);  // a helper thread sets communicators up
    call_prefix_ = prefix(pid + 880);
    world_ = communicator(world_id, rank, kRanks);
    host_ = communicator(host_id, device, kGpusPerHost);
    for (std::uint64_t& buffer : buffers_) buffer = pointer(random_, std::uint64_t{2} << 20);
  }

  void write_setup(std::string& out) const {
    if (rank_ == 0) out += "NCCL version 2.21.5+cuda12.4\n";
    for (const Communicator* comm : {&world_, &host_}) {
      write_init(out, *comm, "START");
      write_init(out, *comm, "COMPLETE");
    }
  }

  void write_call(std::string& out, const Call& call) {
    Communicator& comm = call.within_host ? host_ : world_;
    const std::uint64_t send = buffer();
    const std::uint64_t receive = call.within_host ? send : buffer();
    out += call_prefix_;
    out += call.function;
    out += ": opCount ";
    append_hex(out, comm.op_count++);
    out += " sendbuff 0x";
    append_hex(out, send);
    out += " recvbuff 0x";
    append_hex(out, receive);
    out += " count ";
    append_decimal(out, call.count);
    out += " datatype ";
    append_decimal(out, static_cast<std::uint64_t>(call.datatype));
    out += " op 0 root 0 comm 0x";
    append_hex(out, comm.address);
    out += call.within_host ? " [nranks=8] stream 0x" : " [nranks=64] stream 0x";
    append_hex(out, comm.stream);
    out += '\n';
  }

 private:
  Communicator communicator(std::uint64_t id, int rank, int nranks) {
    return {.address = pointer(random_, 16),
            .id = id,
            .stream = pointer(random_, 16),
            .rank = rank,
            .nranks = nranks};
  }

  // Somewhere in one of the large blocks that the framework's allocator carves up.
  std::uint64_t buffer() {
    const std::uint64_t draw = random_();
    return buffers_[draw % buffers_.size()] + (draw >> 40) * 512;
  }

  static void append_decimal(std::string& text, std::uint64_t value) {
    std::array<char, 20> digits;
    text.append(digits.begin(), std::to_chars(digits.begin(), digits.end(), value).ptr);
  }

  void write_init(std::string& out, const Communicator& comm, std::string_view step) const {
    const std::string device = std::to_string(rank_ % kGpusPerHost);
    out += init_prefix_ + "ncclCommInitRank comm " + hex(comm.address) + " rank " +
           std::to_string(comm.rank) + " nranks " + std::to_string(comm.nranks) + " cudaDev " +
           device + " nvmlDev " + device + " busId ";
    out += kBusIds[rank_ % kGpusPerHost];
    out += " commId " + hex(comm.id) + " - Init ";
    out += step;
    out += '\n';
  }

  int rank_;
  std::mt19937_64 random_;
  std::string init_prefix_;
  std::string call_prefix_;
  Communicator world_;
  Communicator host_;
  std::array<std::uint64_t, 32> buffers_{};
};

// The file or stream that a rank writes to.
class Output {
 public:
  explicit Output(const Options& options) {
    if (options.files.empty()) return;
    std::filesystem::create_directories(options.files);
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string name = "gpu-node-" + std::to_string(rank / kGpusPerHost + 1) + ".rank" +
                               std::to_string(rank) + ".log";
      files_.emplace_back(std::filesystem::path(options.files) / name, std::ios::binary);
    }
  }

  void write(int rank, const std::string& text) {
    check(stream_of(rank).write(text.data(), std::ssize(text)));
  }

  void flush() {
    for (int rank = 0; rank < kRanks; ++rank) check(stream_of(rank).flush());
  }

 private:
  std::ostream& stream_of(int rank) {
    if (files_.empty()) return std::cout;
    return files_[static_cast<std::size_t>(rank)];
  }

  static void check(const std::ostream& stream) {
    if (!stream) throw std::runtime_error("cannot write: is the disk full, the folder read-only?");
  }

  std::vector<std::ofstream> files_;
};

// How many iterations have about this size. opCount grows slowly, so the hundredth iteration stands
// for all.
std::uint64_t iterations_for(std::uint64_t bytes, const std::vector<Call>& iteration, Rank rank) {
  std::string one;
  for (int i = 0; i < 100; ++i) {
    one.clear();
    for (const Call& call : iteration) rank.write_call(one, call);
  }
  return std::max<std::uint64_t>(1, bytes / (one.size() * kRanks));
}

void generate(const Options& options) {
  std::mt19937_64 random(options.seed);
  const std::uint64_t world_id = random();
  std::vector<Rank> ranks;
  for (int host = 0; host < kHosts; ++host) {
    const std::uint64_t host_id = random();
    for (int device = 0; device < kGpusPerHost; ++device)
      ranks.emplace_back(host * kGpusPerHost + device, world_id, host_id, random);
  }

  Output output(options);
  std::string block;
  for (int rank = 0; rank < kRanks; ++rank) {
    block.clear();
    ranks[static_cast<std::size_t>(rank)].write_setup(block);
    output.write(rank, block);
  }

  const std::vector<Call> iteration = training_iteration();
  const std::uint64_t total =
      iterations_for(options.megabytes * 1'000'000, iteration, ranks.front()) * iteration.size();
  std::array<std::uint64_t, kRanks> done{};

  // In each round every unfinished rank fills its buffer once, in a random order: no rank gets far
  // ahead, as in a job that synchronises at every step, and in the end all have made every call.
  std::array<int, kRanks> order;
  std::iota(order.begin(), order.end(), 0);
  for (std::uint64_t unfinished = kRanks; unfinished > 0;) {
    std::shuffle(order.begin(), order.end(), random);
    for (const int rank : order) {
      std::uint64_t& calls = done[static_cast<std::size_t>(rank)];
      if (calls == total) continue;
      block.clear();
      while (calls < total && block.size() < kBlockBytes)
        ranks[static_cast<std::size_t>(rank)].write_call(block,
                                                         iteration[calls++ % iteration.size()]);
      output.write(rank, block);
      if (calls == total) --unfinished;
    }
  }
  output.flush();
}

std::uint64_t number(std::string_view flag, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error(std::string(flag) + " needs a number, not '" + std::string(text) +
                             "'");
  return value;
}

Options parse(const std::vector<std::string_view>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view flag = arguments[i];
    if (i + 1 == arguments.size()) throw std::runtime_error(std::string(flag) + " needs a value");
    const std::string_view value = arguments[i + 1];
    if (flag == "--megabytes")
      options.megabytes = number(flag, value);
    else if (flag == "--seed")
      options.seed = number(flag, value);
    else if (flag == "--files")
      options.files = value;
    else
      throw std::runtime_error("flags: --megabytes N, --seed N, --files DIR");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    generate(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "generate_coll_log: " << error.what() << '\n';
    return 1;
  }
}
