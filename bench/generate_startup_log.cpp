// Writes what NCCL_DEBUG=INFO prints while a job starts, again and again with new processes until
// it is as large as asked for: 64 ranks on 8 hosts, NCCL 2.27.7, 16 communicators on each. No
// calls.
//
//   generate_startup_log --megabytes 300 > startup.log
//
// The same flags give the same bytes.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kHosts = 8;
constexpr int kGpusPerHost = 8;
constexpr int kRanks = kHosts * kGpusPerHost;
constexpr int kCommunicators = 16;
constexpr int kChannels = 16;

// How much stdio collects before it writes: ranks alternate in such blocks.
constexpr std::size_t kBlockBytes = 4096;

std::string hex(std::uint64_t value) {
  char digits[16];
  return "0x" +
         std::string(digits, std::to_chars(std::begin(digits), std::end(digits), value, 16).ptr);
}

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

// Writes the lines of one process.
class Process {
 public:
  Process(int rank, int attempt, std::mt19937_64& random)
      : rank_(rank),
        device_(rank % kGpusPerHost),
        host_("gpu-node-" + std::to_string(rank / kGpusPerHost + 1)),
        pid_(40'000 + 1'000 * attempt + 17 * rank),
        heap_(0x55d000000000 + random() % 0xff0000000) {}

  std::string all(const std::vector<std::uint64_t>& ids) {
    say(pid_, "NCCL_SOCKET_IFNAME set by environment to eth0");
    say(pid_, "Bootstrap: Using eth0:" + address() + "<0>");
    say(pid_, "cudaDriverVersion 12080");
    say(pid_, "NCCL version 2.27.7+cuda12.8");
    for (std::size_t i = 0; i < ids.size(); ++i) start(static_cast<int>(i), ids[i]);
    return std::move(text_);
  }

 private:
  std::string address() const { return "10.0.0." + std::to_string(11 + rank_ / kGpusPerHost); }

  void say(int thread, const std::string& message) {
    text_ += host_ + ":" + std::to_string(pid_) + ":" + std::to_string(thread) + " [" +
             std::to_string(device_) + "] NCCL INFO " + message + "\n";
  }

  void start(int number, std::uint64_t id) {
    const int thread = pid_ + 20 + number;
    const std::string rank = std::to_string(rank_);
    const std::string device = std::to_string(device_);
    const std::string communicator = hex(heap_ + static_cast<std::uint64_t>(number) * 0x4c10);
    say(thread, "Comm config Blocking set to 1");
    say(thread, "NET/Plugin: Could not find: libnccl-net.so. ");
    say(thread, "NCCL_IB_HCA set to mlx5_0,mlx5_1,mlx5_2,mlx5_3");
    say(thread,
        "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE "
        "[3]mlx5_3:1/RoCE [RO]; OOB eth0:" +
            address() + "<0>");
    say(thread, "Initialized NET plugin IB");
    say(thread, "Assigned NET plugin IB to comm");
    say(thread, "Using network IB");
    say(thread, "DMA-BUF is available on GPU device " + device);
    const std::string init = "ncclCommInitRankConfig comm " + communicator + " rank " + rank +
                             " nranks 64 cudaDev " + device + " nvmlDev " + device + " busId " +
                             device + "b000 commId " + hex(id);
    say(thread, init + " - Init START");
    say(thread, "RAS client listening socket at 127.0.0.1<28028>");
    say(thread,
        "Bootstrap timings total 0.412337 (create 0.000041, send 0.000188, recv 0.398210, "
        "ring 0.012002, delay 0.000000)");
    say(thread, "Setting affinity for GPU " + device + " to 0-31");
    say(thread, "NVLS multicast support is available on dev " + device + " (NVLS_NCHANNELS 16)");
    say(thread, "comm " + communicator + " rank " + rank +
                    " nRanks 64 nNodes 8 localRanks 8 localRank " + device + " MNNVL 0");
    std::string trees = "Trees";
    for (int channel = 0; channel < kChannels; ++channel)
      trees += " [" + std::to_string(channel) + "] " + std::to_string(rank_ + 1) + "/-1/-1->" +
               rank + "->" + std::to_string(rank_ - 1);
    say(thread, trees);
    say(thread, "P2P Chunksize set to 131072");
    say(thread, "PROFILER/Plugin: Could not find: libnccl-profiler.so. ");
    say(thread + 9, "[Proxy Service] Device " + device + " CPU core 7");
    say(thread + 10, "[Proxy Service UDS] Device " + device + " CPU core 12");
    say(thread, "threadThresholds 8/8/64 | 512/8/64 | 512 | 512");
    say(thread,
        "16 coll channels, 16 collnet channels, 16 nvls channels, 16 p2p channels, "
        "2 p2p channels per peer");
    say(thread, "TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.");
    say(thread, init + " - Init COMPLETE");
    say(thread, "Init timings - ncclCommInitRankConfig: rank " + rank +
                    " nranks 64 total 0.93 (kernels 0.14, alloc 0.23, bootstrap 0.41, allgathers "
                    "0.01, topo 0.09, graphs 0.01, connections 0.03, rest 0.01)");
    connect(thread + 30, (rank_ + kRanks - 1) % kRanks, rank_, true);
    connect(thread + 30, rank_, (rank_ + 1) % kRanks, false);
    say(thread + 30, "Connected all rings, use ring PXN 0 GDR 1");
    for (int step = 2; step < kGpusPerHost; step *= 2)
      connect(thread + 30, rank_, (rank_ + step) % kRanks, false);
    say(thread + 30, "Connected all trees");
  }

  void connect(int thread, int from, int to, bool receive) {
    const bool within_host = from / kGpusPerHost == to / kGpusPerHost;
    if (within_host && receive) return;  // only the sender prints it
    const std::string way = std::to_string(from) + "[" + std::to_string(from % kGpusPerHost) +
                            "] -> " + std::to_string(to) + "[" + std::to_string(to % kGpusPerHost) +
                            "]";
    for (int channel = 0; channel < kChannels; ++channel) {
      std::string message = "Channel " + two_digits(channel) + "/0 : " + way;
      if (within_host)
        message += " via P2P/CUMEM";
      else
        message += std::string(receive ? " [receive]" : " [send]") + " via NET/IB/" +
                   std::to_string(channel % 4) + "/GDRDMA";
      say(thread, message);
    }
  }

  int rank_;
  int device_;
  std::string host_;
  int pid_;
  std::uint64_t heap_;
  std::string text_;
};

// All processes of one attempt, their blocks in a random order.
std::string attempt(int number, std::mt19937_64& random) {
  std::vector<std::uint64_t> ids(kCommunicators);
  for (std::uint64_t& id : ids) id = random();
  std::vector<std::string> texts;
  texts.reserve(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) texts.push_back(Process(rank, number, random).all(ids));
  std::vector<std::size_t> written(texts.size());
  std::vector<std::size_t> order(texts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::string out;
  for (bool more = true; more;) {
    more = false;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t rank : order) {
      const std::string& text = texts[rank];
      if (written[rank] >= text.size()) continue;
      std::size_t end = text.rfind('\n', written[rank] + kBlockBytes);
      end = end < written[rank] || end == std::string::npos ? text.size() : end + 1;
      out.append(text, written[rank], end - written[rank]);
      written[rank] = end;
      more = true;
    }
  }
  return out;
}

std::uint64_t megabytes_in(const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 2 || arguments[0] != "--megabytes")
    throw std::runtime_error("flags: --megabytes N");
  std::uint64_t value = 0;
  const std::string_view text = arguments[1];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error("--megabytes needs a number");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    const std::uint64_t bytes = megabytes_in({argv + 1, argv + argc}) * 1'000'000;
    std::mt19937_64 random(1);
    std::uint64_t written = 0;
    for (int number = 0; written < bytes; ++number) {
      const std::string text = attempt(number, random);
      if (!std::cout.write(text.data(), std::ssize(text)))
        throw std::runtime_error("cannot write: is the disk full?");
      written += text.size();
    }
    std::cout.flush();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "generate_startup_log: " << error.what() << '\n';
    return 1;
  }
}
