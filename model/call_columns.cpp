#include "model/call_columns.h"

#include <algorithm>
#include <array>
#include <bit>

namespace faultline {
namespace {

// The bits of a call's byte: which of its fields were not as expected.
constexpr unsigned kOtherRun = 1;        // another rank's turn
constexpr unsigned kOtherSignature = 2;  // another call
constexpr unsigned kOtherOpCount = 4;    // another stride
constexpr unsigned kOtherLine = 8;       // not the next line
constexpr unsigned kOtherOffset = 16;    // not where a line of the usual length would end
constexpr unsigned kOtherTime = 32;      // not at the time of the run's call before
constexpr std::size_t kColumns = 6;
constexpr std::size_t kColumnsWithoutTimes = 5;

// Tables are read at hash & mask: they never grow, and a collision only costs a surprise.
std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t h = (a ^ (b * 0x9e3779b1U)) * 0x85ebca6bU;
  return h ^ (h >> 15);
}

// What was seen so far. The writer and the reader keep the same.
class History {
 public:
  History(std::size_t runs, std::size_t calls)
      : runs_(runs),
        mask_(static_cast<std::uint32_t>(
            std::bit_ceil(std::clamp<std::size_t>(2 * calls, 256, 65536)) - 1)),
        steps_(mask_ + 1),
        lengths_(mask_ + 1) {}

  // The run that came after the last one the last time.
  std::uint32_t expected_run() const { return runs_[run_].next; }

  Call expected(std::uint32_t run) const {
    const Run& of = runs_[run];
    const Step& step = steps_[of.context & mask_];
    return {of.op_count + step.op_stride, step.signature, line_ + 1, offset_ + length(),
            of.after_ms};
  }

  void learn(std::uint32_t run, const Call& call) {
    lengths_[length_key_ & mask_] = call.offset - offset_;
    runs_[run_].next = run;
    Run& of = runs_[run];
    steps_[of.context & mask_] = {call.op_count - of.op_count, call.signature};
    // The last four signatures: enough to know where in a step a rank is. All ranks share what was
    // learned, because they do the same.
    of.recent = (of.recent << 16) | (call.signature & 0xffff);
    of.context =
        mix(static_cast<std::uint32_t>(of.recent), static_cast<std::uint32_t>(of.recent >> 32));
    of.op_count = call.op_count;
    of.after_ms = call.after_ms;
    length_key_ = mix(run, call.signature);
    run_ = run;
    line_ = call.line;
    offset_ = call.offset;
  }

 private:
  struct Run {
    std::uint32_t next = 0;
    std::uint32_t context = 0;
    std::uint64_t op_count = 0;
    std::uint64_t recent = 0;
    std::uint32_t after_ms = 0;
  };
  struct Step {
    std::uint64_t op_stride = 0;
    std::uint32_t signature = 0;
  };

  // The usual length of the line before, by its run and signature.
  std::uint32_t length() const { return lengths_[length_key_ & mask_]; }

  std::vector<Run> runs_;
  std::uint32_t mask_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> lengths_;
  std::uint32_t length_key_ = 0;
  std::uint32_t run_ = 0;
  std::uint32_t line_ = UINT32_MAX;  // so that line 0 is the next one
  std::uint32_t offset_ = 0;
};

// The run of each call, in the order of the file, in which a line begins where the one before ends
// and ranks take turns. Any order with the right number of turns for each run would do, so odd line
// numbers cost space, not correctness.
std::vector<std::uint32_t> turns_of(const std::vector<CallRun>& runs, std::size_t calls) {
  std::uint32_t last_line = 0;
  for (const CallRun& run : runs)
    for (const Call& call : run.calls) last_line = std::max(last_line, call.line);
  std::vector<std::uint32_t> turns;
  if (runs.size() == 1 || last_line > 16 * calls + 4096) {
    turns.reserve(calls);
    for (std::uint32_t run = 0; run < runs.size(); ++run)
      turns.insert(turns.end(), runs[run].calls.size(), run);
    return turns;
  }
  std::vector<std::uint32_t> starts(std::size_t{last_line} + 2);  // counting sort
  for (const CallRun& run : runs)
    for (const Call& call : run.calls) ++starts[call.line + 1];
  for (std::size_t line = 1; line < starts.size(); ++line) starts[line] += starts[line - 1];
  turns.resize(calls);
  for (std::uint32_t run = 0; run < runs.size(); ++run)
    for (const Call& call : runs[run].calls) turns[starts[call.line]++] = run;
  return turns;
}

std::int64_t difference(std::uint32_t value, std::uint32_t expected) {
  return static_cast<std::int32_t>(value - expected);
}

}  // namespace

void write_calls(const std::vector<CallRun>& runs, ByteWriter& out) {
  std::size_t calls = 0;
  for (const CallRun& run : runs) calls += run.calls.size();
  for (const CallRun& run : runs) out.number(run.calls.size());
  if (calls == 0) return;

  History history(runs.size(), calls);
  std::vector<std::size_t> next(runs.size());
  std::string surprises;
  surprises.reserve(calls);
  std::array<ByteWriter, kColumns> columns;
  for (const std::uint32_t run : turns_of(runs, calls)) {
    const Call& call = runs[run].calls[next[run]++];
    const Call expected = history.expected(run);
    unsigned surprise = 0;
    if (run != history.expected_run()) {
      surprise |= kOtherRun;
      columns[0].number(run);
    }
    if (call.signature != expected.signature) {
      surprise |= kOtherSignature;
      columns[1].number(call.signature);
    }
    if (call.op_count != expected.op_count) {
      surprise |= kOtherOpCount;
      columns[2].signed_number(static_cast<std::int64_t>(call.op_count - expected.op_count));
    }
    if (call.line != expected.line) {
      surprise |= kOtherLine;
      columns[3].signed_number(difference(call.line, expected.line));
    }
    if (call.offset != expected.offset) {
      surprise |= kOtherOffset;
      columns[4].signed_number(difference(call.offset, expected.offset));
    }
    if (call.after_ms != expected.after_ms) {
      surprise |= kOtherTime;
      columns[5].signed_number(difference(call.after_ms, expected.after_ms));
    }
    surprises.push_back(static_cast<char>(surprise));
    history.learn(run, call);
  }
  out.text(surprises);
  for (const ByteWriter& column : columns) out.text(column.view());
}

void read_calls(ByteReader& in, std::vector<CallRun>& runs, bool with_times) {
  std::vector<std::size_t> sizes;
  sizes.reserve(runs.size());
  std::size_t calls = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    sizes.push_back(in.count(1));
    calls += sizes.back();
  }
  if (calls == 0) return;
  if (calls > kMaxCallsPerBatch) throw BadBytes("has too many calls");
  const std::string_view surprises = in.text();
  if (surprises.size() != calls) throw BadBytes("contradicts itself about its number of calls");
  for (std::size_t run = 0; run < runs.size(); ++run) runs[run].calls.reserve(sizes[run]);
  std::vector<ByteReader> columns;
  for (std::size_t column = 0; column < (with_times ? kColumns : kColumnsWithoutTimes); ++column)
    columns.emplace_back(in.text());

  History history(runs.size(), calls);
  for (const char byte : surprises) {
    const auto surprise = static_cast<std::uint8_t>(byte);
    const std::uint32_t run =
        surprise & kOtherRun ? columns[0].small<std::uint32_t>() : history.expected_run();
    if (run >= runs.size()) throw BadBytes("has a call of a run that does not exist");
    Call call = history.expected(run);
    if (surprise & kOtherSignature) call.signature = columns[1].small<std::uint32_t>();
    if (surprise & kOtherOpCount)
      call.op_count += static_cast<std::uint64_t>(columns[2].signed_number());
    if (surprise & kOtherLine) call.line += static_cast<std::uint32_t>(columns[3].signed_number());
    if (surprise & kOtherOffset)
      call.offset += static_cast<std::uint32_t>(columns[4].signed_number());
    if (surprise & kOtherTime) {
      if (!with_times) throw BadBytes("has times of calls, which its form does not have");
      call.after_ms += static_cast<std::uint32_t>(columns[5].signed_number());
    }
    runs[run].calls.push_back(call);
    history.learn(run, call);
  }
  for (std::size_t run = 0; run < runs.size(); ++run)
    if (runs[run].calls.size() != sizes[run]) throw BadBytes("gives a run the calls of another");
  for (const ByteReader& column : columns)
    if (!column.at_end()) throw BadBytes("has more data than its calls need");
}

}  // namespace faultline
