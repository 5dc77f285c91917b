#include "parsers/performance/mpi_benchmark.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// "OSU MPI Allreduce Latency Test v7.3", "OSU NCCL Bandwidth Test", "Benchmarking PingPong".
std::string_view name_of_test(std::string_view text) {
  text = trimmed(text);
  if (!take_front(text, "#")) return {};
  text = trimmed(text);
  if (text.starts_with("OSU ") && text.find(" Test") != text.npos) return text;
  return take_front(text, "Benchmarking ") ? trimmed(text) : std::string_view{};
}

enum class Measures { nothing, time, bandwidth };

// "# Size          Avg Latency(us)", "# Size      Bandwidth (MB/s)", "#bytes #repetitions
// t[usec]   Mbytes/sec".
struct Head {
  Measures what = Measures::nothing;
  std::size_t column = 0;
};

Head head_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("#bytes ") || text.starts_with("#bytes\t")) {
    const auto columns = words_of(text, 12);
    for (std::size_t i = columns.size(); i-- > 1;)
      if (columns[i] == "t_avg[usec]" || columns[i] == "t[usec]") return {Measures::time, i};
    return {};
  }
  if (!take_front(text, "#")) return {};
  text = trimmed(text);
  if (!take_front(text, "Size")) return {};
  if (text.find("atency") != text.npos) return {Measures::time, 1};
  return text.find("andwidth") != text.npos ? Head{Measures::bandwidth, 1} : Head{};
}

// Keeps the worst row: a slightly larger message took many times as long, or a larger message got
// only a fraction of the bandwidth of a smaller one.
class MpiBenchmark : public PartDocument {
 public:
  MpiBenchmark() : PartDocument("mpi-benchmark") {}

 private:
  enum Word : std::size_t { kTest, kSize, kValue, kColumn, kRows, kDeepest, kTold, kWords };

  Line read(std::string_view text) override {
    if (words_.size() != kWords) words_.assign(kWords, {});
    if (const std::string_view test = name_of_test(text); !test.empty()) {
      give();
      words_[kTest].assign(test.substr(0, kMostTest));
      open("host");
      return Line::part;
    }
    if (const Head head = head_in(text); head.what != Measures::nothing) {
      if (last() == nullptr) return Line::after;
      stage_ = static_cast<int>(head.what);
      words_[kColumn] = std::to_string(head.column);
      return Line::part;
    }
    if (text.starts_with('#')) return Line::part;
    return stage_ != 0 && read_row(text) ? Line::part : Line::foreign;
  }

  bool read_row(std::string_view text) {
    const auto words = words_of(text, 12);
    const auto column = static_cast<std::size_t>(real(words_[kColumn]).value_or(0));
    if (column == 0 || column >= words.size() || !is_count(words[0]) || cut()) return false;
    const double size = real(words[0]).value_or(0);
    const auto value = real(words[column]);
    if (!value || *value <= 0) return false;
    words_[kRows] = std::to_string(static_cast<int>(number(kRows)) + 1);
    const double before = number(kValue);
    const double size_before = number(kSize);
    const bool bandwidth = stage_ == static_cast<int>(Measures::bandwidth);
    if (before > 0 && size > size_before)
      see(bandwidth ? before / *value : longer(before, *value, size_before, size), before, *value,
          size_before, size, bandwidth);
    // A bandwidth is compared with the best one before it, a time with the one right before it.
    if (!bandwidth || *value > before) {
      words_[kSize] = fmt::format("{}", size);
      words_[kValue] = fmt::format("{}", *value);
    }
    return true;
  }

  // How many times longer a message took than its growth explains. 0 for times so short that they
  // vary anyway.
  static double longer(double before, double now, double size_before, double size) {
    constexpr double kQuick = 100;  // us
    if (now < kQuick) return 0;
    return now / before / std::max(1.0, size / std::max(1.0, size_before));
  }

  void see(double times, double before, double now, double size_before, double size,
           bool bandwidth) {
    if (times <= number(kDeepest)) return;
    words_[kDeepest] = fmt::format("{:.1f}", times);
    words_[kTold] = bandwidth
                        ? fmt::format("{:.1f} times less: {} MB/s with {} bytes, {} MB/s with {}",
                                      times, before, size_before, now, size)
                        : fmt::format("{:.1f} times longer: {} us with {} bytes, {} us with {}",
                                      times, before, size_before, now, size);
    if (last() != nullptr) rest_on_line(*last());
  }

  void end() override {
    if (last() == nullptr || words_.size() != kWords || words_[kRows].empty()) return;
    last()->name("test", words_[kTest]);
    last()->value("rows", words_[kRows]);
    if (!words_[kTold].empty())
      last()->value(
          stage_ == static_cast<int>(Measures::bandwidth) ? "bandwidth falls" : "latency jumps",
          words_[kTold]);
  }

  void give() {
    end();
    give_all();
    words_.assign(kWords, {});
    stage_ = 0;
  }

  double number(Word word) const { return real(words_[word]).value_or(0); }

  static constexpr std::size_t kMostTest = 80;
};

}  // namespace

bool begins_mpi_benchmark(std::string_view text) { return !name_of_test(text).empty(); }

std::unique_ptr<Document> make_mpi_benchmark() { return std::make_unique<MpiBenchmark>(); }

}  // namespace faultline
