#include "ingest/block_check.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "ingest/call_collector.h"
#include "ingest/kept_lines.h"
#include "model/bytes.h"
#include "parsers/nccl/nccl_form.h"

namespace faultline {
namespace {

constexpr std::size_t kMostDialects = 64;
constexpr std::size_t kLongestDialect = 40;
constexpr std::size_t kMostMarks = 64;
constexpr std::size_t kMoreThanLines = 64;  // speakers, functions
constexpr std::size_t kLongestName = 4096;  // of a host, or of a function
// Far beyond any time that a log has, and far below where sums of times overflow.
constexpr std::int64_t kFarthestTime = std::int64_t{1} << 58;

void need(bool holds, const char* what) {
  if (!holds) throw BadBytes(what);
}

void check(const EventTime& time) {
  const auto is_sane = [](std::int64_t us) { return us > -kFarthestTime && us < kFarthestTime; };
  need(is_sane(time.wall_us.value_or(0)) && is_sane(time.uptime_us.value_or(0)) &&
           time.uncertainty_us >= 0 && is_sane(time.uncertainty_us),
       "has a time that no log has");
}

// Receipts and metrics show the names.
void check_counts(const Batch& batch) {
  const std::uint64_t lines = batch.lines + 1;  // one may have been counted in the block before
  need(batch.recognized <= lines && batch.skipped <= lines, "counts more lines than it has");
  need(batch.dialects.size() <= kMostDialects, "has too many dialects");
  for (const auto& [name, count] : batch.dialects) {
    const bool is_name = !name.empty() && name.size() <= kLongestDialect &&
                         std::ranges::all_of(name, [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '_' || c == '-';
                         });
    need(is_name && count <= lines, "has a dialect that no reader has");
  }
  need(batch.left_out == 0, "says what the limits of a job left out, which only the server knows");
  for (const auto& [name, count] : batch.subsystems) {
    bool is_known = false;
    for (std::size_t i = 0; i < kNcclSubsystems && !is_known; ++i)
      is_known = name == name_of(static_cast<NcclSubsystem>(i));
    need(is_known && count <= lines, "has a subsystem that NCCL does not have");
  }
}

void check_speakers(const Batch& batch) {
  need(batch.speakers.size() <= batch.lines + kMoreThanLines &&
           batch.signatures.size() <= batch.lines + kMoreThanLines,
       "has more speakers or functions than lines");
  for (const Speaker& speaker : batch.speakers)
    need(speaker.host.size() <= kLongestName, "has a host with too long a name");
  for (const Signature& signature : batch.signatures)
    need(!signature.function.empty() && signature.function.size() <= kLongestName,
         "has a function without a sensible name");
}

// Events may stand on a line that began before the block, or be told at its end.
void check_events(const Batch& batch) {
  std::int64_t last = -1;
  for (const Event& event : batch.events) {
    need(event.speaker < batch.speakers.size(), "has an event of no speaker");
    need(event.text.find('\0') == std::string::npos && event.text.find('\n') == std::string::npos,
         "has an event with a text that is no line");
    need(event.order > last, "has events without an order");
    last = event.order;
    const auto line = static_cast<std::int64_t>(event.line);
    const auto offset = static_cast<std::int64_t>(event.offset);
    need(line <= static_cast<std::int64_t>(batch.lines) + 1 &&
             offset <= static_cast<std::int64_t>(batch.to_offset),
         "has an event behind its end");
    need(event.text.size() <= kMaxEvidenceBytes, "has an event with too long a text");
    check(event.time);
  }
}

void check_runs(const Batch& batch) {
  std::int64_t last = -1;
  std::uint64_t calls = 0;
  for (const CallRun& run : batch.runs) {
    need(run.speaker < batch.speakers.size(), "has calls of no speaker");
    need(run.order > last, "has calls without an order");
    last = run.order;
    need(!run.calls.empty(), "has a run without calls");
    need(run.last_text.size() <= kMaxEvidenceBytes, "has a call with too long a text");
    check(run.first_time);
    check(run.last_time);
    calls += run.calls.size();
    for (const Call& call : run.calls) {
      need(call.signature < batch.signatures.size(), "has a call without a signature");
      need(call.line <= batch.lines &&
               static_cast<std::int32_t>(call.offset) <= static_cast<std::int64_t>(batch.to_offset),
           "has a call behind its end");
    }
  }
  need(calls <= batch.lines + 1, "has more calls than lines");
}

// Adds up what kept lines cover.
class KeptSpan : public KeptLinesVisitor {
 public:
  std::uint64_t bytes = 0;

  void text(std::string_view text) override { add(text.size()); }
  void rest(std::string_view text, bool) override { add(text.size()); }
  void hidden_line(std::string_view, std::uint64_t length) override { add(length); }
  void blank(std::uint64_t lines) override { add(lines); }
  void calls(LineSpan span) override { add(span); }
  void passed(LineSpan span) override { add(span); }
  void begin_body(Timestamp received) override {
    mark();
    const std::int64_t us = received.time_since_epoch().count();
    need(us > -kFarthestTime && us < kFarthestTime, "keeps lines of no time that a clock shows");
  }
  // Only a server says these.
  void begin_file() override { need(false, "keeps the beginning of another file"); }
  void set_boot_time(Timestamp) override { need(false, "keeps the time of a boot"); }
  void close() override { need(false, "keeps the end of its source"); }
  void settle() override { mark(); }
  void finish() override { mark(); }

 private:
  // Each makes who reads them again look at all that is open.
  void mark() { need(++marks_ <= kMostMarks, "keeps more marks than a reader makes"); }
  void add(LineSpan span) {
    need(span.lines <= span.bytes + 1, "keeps more lines than bytes");
    add(span.bytes);
  }
  void add(std::uint64_t length) {
    need(length <= kMostBytesOfASentBlock, "keeps more than it has");
    bytes += length;
    need(bytes <= kMostBytesOfASentBlock, "keeps more than it has");
  }

  std::size_t marks_ = 0;
};

void check_kept_lines(const ReadBlock& block) {
  if (block.kept_lines.empty()) return;
  need(block.keeps_lines, "keeps lines although it keeps none");
  KeptSpan span;
  if (const auto read = read_kept_lines(block.kept_lines, span); !read)
    throw BadBytes(read.error().message);
  need(span.bytes == block.batch.to_offset, "keeps other lines than it has");
}

}  // namespace

Result<void> check_block(const ReadBlock& block) try {
  const Batch& batch = block.batch;
  need(batch.from_offset == 0 && batch.to_offset > 0, "has no bytes");
  need(batch.to_offset <= kMostBytesOfASentBlock, "is too long");
  need(batch.lines <= batch.to_offset + 1 && batch.first_line <= 1, "has more lines than bytes");
  need(block.after.carry.size() <= kMostCarriedBySentBlock, "carries too much on");
  need(carries_only_lines(block.after.carry), "carries on what only the server may read on");
  need(batch.end != SourceEnd::closed, "ends its source");
  check_counts(batch);
  check_speakers(batch);
  check_events(batch);
  check_runs(batch);
  check_kept_lines(block);
  return {};
} catch (const BadBytes& error) {
  return Error{Error::Kind::invalid_input, error.what()};
}

// What lies before the source has wrapped around.
bool is_within_its_source(const ReadBlock& block) {
  return std::ranges::all_of(block.batch.events, [&](const Event& event) {
    return event.line <= block.after.lines + 1 && event.offset <= block.batch.to_offset;
  });
}

}  // namespace faultline
