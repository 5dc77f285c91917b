// LineReader: rows that go on with the line before them, whose event waits for them.
#include <algorithm>
#include <utility>

#include "ingest/cut_line.h"
#include "ingest/dialects.h"
#include "ingest/line_reader.h"
#include "parsers/nccl/nccl_remark.h"

namespace faultline {
namespace {

// A text that grows longer than this is no warning of NCCL.
constexpr std::size_t kMaxRemarkBytes = 4096;

// How many rows may follow the first of a line, as on a narrow terminal.
constexpr std::size_t kMostPieces = 3;

}  // namespace

// Continues a warning of several lines, of which only the first has a frame; or a kernel line that
// a mail broke. Remembers a row that may be the middle of a watchdog's line.
bool LineReader::continue_warning(const Message& message, const LinePlace& place) {
  if (last_warning_.line == 0 || place.number != last_warning_.line + 1) return false;
  if (message.from_kernel) return false;
  if (cut_line_before(message, place) != nullptr) {
    last_warning_.line = last_warning_.more.size() + 1 < kMostPieces ? place.number : 0;
    last_warning_.more.emplace_back(message.text);
    return false;
  }
  Event& event = batch_.events[last_warning_.event];
  auto* remark = std::get_if<Remark>(&event.fact);
  if (remark == nullptr || remark->dialect == kTorch) return false;
  if (batch_.speakers[event.speaker].rank != message.rank) return false;
  if (remark->text.size() + message.text.size() > kMaxRemarkBytes) return false;
  std::string_view more = message.text;
  more.remove_prefix(std::min(more.find_first_not_of(" \t"), more.size()));
  if (more.empty()) return false;
  last_warning_.line = place.number;
  const auto between =
      last_warning_.more.empty() ? continues_warning(remark->text, message.text) : std::nullopt;
  if (between) {
    remark->text += *between;
    remark->text += more;
    count(remark->dialect);
    return true;
  }
  if (last_warning_.more.size() == kMostPieces) last_warning_.line = 0;  // it has ended
  if (line_end_ == LineEnd::missing || last_warning_.line == 0) return false;
  last_warning_.more.emplace_back(more);
  auto whole = wanted_.completed(*remark, last_warning_.more);
  if (!whole) return false;
  remark->text = std::move(*whole);
  last_warning_.more.clear();
  count(remark->dialect);
  return true;
}

// The event of a line that was recognized and gave no fact, perhaps for want of its end; this row
// may go on with it.
Event* LineReader::cut_line_before(const Message& message, const LinePlace& place) {
  if (last_warning_.line == 0 || place.number != last_warning_.line + 1) return nullptr;
  Event& event = batch_.events[last_warning_.event];
  const auto* begun = std::get_if<Remark>(&event.fact);
  if (begun == nullptr || begun->dialect != kTorch) return nullptr;
  // Its rank and its host may stand before its first row alone.
  const Speaker& speaker = batch_.speakers[event.speaker];
  const bool is_anothers = (message.rank >= 0 && speaker.rank != message.rank) ||
                           (!message.host.empty() && speaker.host != message.host);
  return is_anothers || !may_go_on_with_line(place.text) ? nullptr : &event;
}

bool LineReader::complete_cut_line(const Message& message, const LinePlace& place) {
  Event* event = line_end_ == LineEnd::missing ? nullptr : cut_line_before(message, place);
  if (event == nullptr) return false;
  auto whole = whole_line(std::get<Remark>(event->fact), last_warning_.more, message.text);
  if (!whole) return false;
  event->fact = std::move(whole->fact);
  event->text = evidence_text(without_secrets(whole->text));
  last_warning_ = {};
  return is_more_of_a_line_ = true;
}

// Events that wait for the next line are kept apart from the others, so they must be few.
void LineReader::forget_warning_that_ended(std::uint64_t number) {
  constexpr std::uint64_t kMostFacts = 8;  // since the warning
  if (last_warning_.line == 0) return;
  if (last_warning_.line != number || calls_told_ != last_warning_.calls ||
      facts_ - last_warning_.facts > kMostFacts)
    last_warning_ = {};
}

}  // namespace faultline
