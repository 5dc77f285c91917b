// write_rotated_logs FOLDER NAME KIND ROTATIONS SECONDS BYTES_A_SECOND [NOTES]: goes on with the 16
// logs in FOLDER/logs, at this rate for all of them together, and rotates each of them so often:
//
//   none, rename, copy (and truncate), rename+gzip, truncate
//
// as logrotate does with `rotate 5`. Every NOTES-th line (default: each) is one that can be read
// back from a server; the others are calls of NCCL. FOLDER/truth gets each line once, and
// FOLDER/acts which lines of which log these were.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

#include "numbered_log.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kKept = 5;  // older files
constexpr std::chrono::milliseconds kTick{50};
// So long nothing is written before a log is truncated: whoever follows it can have read all.
constexpr std::chrono::milliseconds kQuiet{2000};

enum class Kind { none, rename, copy, rename_and_pack, truncate };

struct Wish {
  LogFolder logs;
  std::string name;
  Kind kind = Kind::none;
  int rotations = 0;
  std::chrono::duration<double> lasts{};
  double bytes_a_second = 0;
  std::uint64_t notes = 1;
};

void append_to(std::ofstream& file, const fs::path& path) {
  file.open(path, std::ios::app | std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot write to {}", path.string()));
}

// A program that writes a log, and what rotates it.
class WrittenLog {
 public:
  WrittenLog(const LogFolder& logs, int number, std::uint64_t written)
      : path_(logs.log(number)), number_(number), written_(written) {
    random_.seed(static_cast<std::uint64_t>(number) << 32U | written);
    append_to(file_, path_);
    append_to(truth_, logs.truth(number));
  }

  std::uint64_t written() const { return written_; }

  // Whole lines, at least so many bytes. Returns how many bytes it were.
  std::uint64_t write(std::uint64_t bytes, std::uint64_t notes) {
    std::string text;
    while (text.size() < bytes) append_line(text, ++written_ % notes == 0);
    file_ << text << std::flush;
    truth_ << text << std::flush;
    if (!file_ || !truth_) throw std::runtime_error("cannot write");
    return text.size();
  }

  void rotate(Kind kind) {
    if (kind == Kind::truncate) return fs::resize_file(path_, 0);
    make_room();
    if (kind == Kind::copy) {
      fs::copy_file(path_, part(1));
      return fs::resize_file(path_, 0);
    }
    fs::rename(path_, part(1));
    write(kFewBytes, 1);  // until it learns of it
    file_.close();
    append_to(file_, path_);
    if (kind == Kind::rename_and_pack &&
        std::system(fmt::format("gzip '{}'", part(1).string()).c_str()) != 0)
      throw std::runtime_error("cannot run gzip");
  }

 private:
  static constexpr std::uint64_t kFewBytes = 500;

  fs::path part(int age) const { return fmt::format("{}.{}", path_.string(), age); }

  void make_room() const {
    for (const char* packing : {"", ".gz"}) {
      fs::remove(part(kKept).string() + packing);
      for (int age = kKept - 1; age > 0; --age)
        if (fs::exists(part(age).string() + packing))
          fs::rename(part(age).string() + packing, part(age + 1).string() + packing);
    }
  }

  // Of the sizes of a sharded transformer's calls; buffers lie anywhere in some large blocks.
  void append_line(std::string& text, bool is_note) {
    static constexpr struct {
      const char* function;
      int count;
      int datatype;
    } kCalls[] = {{"AllGather", 3'162'112, 9},
                  {"AllReduce", 33'554'432, 9},
                  {"AllReduce", 33'554'432, 9},
                  {"ReduceScatter", 3'162'112, 9},
                  {"AllReduce", 1, 7}};
    const auto& call = kCalls[written_ % std::size(kCalls)];
    if (is_note) text += fmt::format("{}{} of ", kNote, written_);
    text += fmt::format(
        "{}:{}:{} [{}] NCCL INFO {}: opCount {:x} sendbuff 0x{:x} recvbuff 0x{:x} count {} "
        "datatype {} op 0 root 0 comm 0x7f31c4{:04x}20 [nranks={}] stream 0x7f30aa{:04x}00{}\n",
        kHost, 40'000 + number_, 41'000 + number_, number_ % 8, call.function, written_, buffer(),
        buffer(), call.count, call.datatype, number_ * 257, kLogs, number_ * 511,
        is_note ? kEndOfNote : "");
  }

  std::uint64_t buffer() {
    const std::uint64_t draw = random_();
    return 0x7f0000000000U + draw % 32 * 0x40000000U + (draw >> 40U) * 512;
  }

  fs::path path_;
  int number_;
  std::uint64_t written_;
  std::mt19937_64 random_;
  std::ofstream file_;
  std::ofstream truth_;
};

std::vector<WrittenLog> open_logs(const LogFolder& logs) {
  fs::create_directories(logs.log(0).parent_path());
  fs::create_directories(logs.truth(0).parent_path());
  std::map<int, std::uint64_t> written;
  for (const Act& act : acts_in(logs)) written[act.log] = act.last;
  std::vector<WrittenLog> open;
  for (int number = 0; number < kLogs; ++number) open.emplace_back(logs, number, written[number]);
  return open;
}

void play(const Wish& wish) {
  std::vector<WrittenLog> logs = open_logs(wish.logs);
  std::vector<std::uint64_t> before;
  for (const WrittenLog& log : logs) before.push_back(log.written());
  const auto begun = Clock::now();
  std::vector<double> bytes(logs.size());
  int rotated = 0;
  for (std::chrono::duration<double> passed{}; passed < wish.lasts || rotated < wish.rotations;
       passed = Clock::now() - begun) {
    const double due = std::min(passed, wish.lasts).count() * wish.bytes_a_second / kLogs;
    for (std::size_t i = 0; i < logs.size(); ++i)
      if (due > bytes[i])
        bytes[i] += static_cast<double>(
            logs[i].write(static_cast<std::uint64_t>(due - bytes[i]) + 1, wish.notes));
    if (rotated < wish.rotations && passed >= wish.lasts * ((rotated + 0.5) / wish.rotations)) {
      if (wish.kind == Kind::truncate) std::this_thread::sleep_for(kQuiet);
      for (WrittenLog& log : logs) log.rotate(wish.kind);
      ++rotated;
    }
    std::this_thread::sleep_for(kTick);
  }
  std::ofstream acts(wish.logs.acts_file(), std::ios::app);
  for (std::size_t i = 0; i < logs.size(); ++i)
    acts << wish.name << ' ' << i << ' ' << before[i] + 1 << ' ' << logs[i].written() << '\n';
}

Kind kind_of(std::string_view name) {
  static const std::map<std::string_view, Kind> kinds{{"none", Kind::none},
                                                      {"rename", Kind::rename},
                                                      {"copy", Kind::copy},
                                                      {"rename+gzip", Kind::rename_and_pack},
                                                      {"truncate", Kind::truncate}};
  return kinds.at(name);
}

}  // namespace
}  // namespace faultline

int main(int count, char** values) {
  using namespace faultline;
  if (count < 7) {
    fmt::print(stderr,
               "usage: write_rotated_logs FOLDER NAME KIND ROTATIONS SECONDS BYTES_A_SECOND "
               "[NOTES]\n");
    return 2;
  }
  try {
    play({.logs = {values[1]},
          .name = values[2],
          .kind = kind_of(values[3]),
          .rotations = std::atoi(values[4]),
          .lasts = std::chrono::duration<double>(std::atof(values[5])),
          .bytes_a_second = std::atof(values[6]),
          .notes = count > 7 ? std::strtoull(values[7], nullptr, 10) : 1});
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "write_rotated_logs: {}\n", failure.what());
    return 1;
  }
}
