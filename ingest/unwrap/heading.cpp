#include "ingest/unwrap/heading.h"

#include <algorithm>

#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"
#include "model/path_names.h"
#include "parsers/torch/python_traceback.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPrefixBytes = 256;
constexpr int kMostForeign = 64;  // other lines between two rows

// MPIDI_OFI_handle_cq_error(1075): OFI poll failed
bool is_row_of_stack(std::string_view text) {
  const std::string_view function =
      take_while(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  std::int64_t line = 0;
  if (function.empty() || !take(text, '(') || !take_number(text, line) || !take(text, ')'))
    return false;
  take_while(text, [](char c) { return c == '.'; });
  return text.starts_with(':');
}

// "RuntimeError: out of patience", "torch.cuda.OutOfMemoryError: ...": the last line of a
// traceback.
bool may_be_raised(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  take_while(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; });
  return text.empty() || (take(text, ':') && (text.empty() || is_blank(text.front())));
}

// Takes off a prefix that may differ in its numbers: the time, a line, a process.
bool take_alike(std::string_view& rest, std::string_view prefix) {
  std::string_view text = rest;
  while (!prefix.empty()) {
    if (is_digit(prefix.front())) {
      take_while(prefix, is_digit);
      if (take_while(text, is_digit).empty()) return false;
    } else {
      if (!take(text, prefix.front())) return false;
      prefix.remove_prefix(1);
    }
  }
  rest = text;
  return true;
}

}  // namespace

bool Heading::begin_wall(std::string_view text, Timestamp reference) {
  if (!take(text, "Message from syslogd@")) return false;
  const std::string_view host = take_while(text, is_name);
  if (host.empty() || !take(text, " at ")) return false;
  const auto stamp = take_syslog_stamp(text, reference);
  if (!stamp) return false;
  take_blanks(text);
  if (!text.empty() && text != "...") return false;
  Peeled said;
  said.named_by_host(host);
  said.time = *stamp;
  begin(Of::wall, said);
  return true;
}

bool Heading::knows(std::string_view text) const {
  if (of_ == Of::stack) return is_row_of_stack(text);
  if (!text.empty() && is_blank(text.front())) return true;
  return of_ == Of::traceback && may_be_raised(text);
}

void Heading::begin(Of of, const Peeled& line) {
  of_ = of;
  host_ = line.host;
  known_ = {};
  known_.rank = line.rank;
  known_.host_is_label = line.host_is_label;
  known_.stamped_without_year(line.time);  // whose year is known already
  prefix_.clear();
  prefixed_ = false;
  foreign_ = 0;
}

bool Heading::tell(Peeled& line) {
  if (empty() || prefixed_) return false;
  std::string_view rest = line.text;
  if (!prefix_.empty() && take_alike(rest, prefix_)) return false;
  const bool tells = of_ == Of::wall || known_.rank >= 0 || !host_.empty();  // a time or a speaker
  told_ = tells && knows(line.text);
  if (!told_) {
    if (prefix_.empty()) *this = {};
    return false;
  }
  prefix_.clear();  // the rows come without it
  const std::string_view text = line.text;
  line = known_;
  line.text = text;
  line.host = host_;
  // What was raised stands below the frames, and ends the traceback.
  if (of_ == Of::traceback && !is_blank(text.front())) of_ = Of::nothing;
  return true;
}

void Heading::pass(std::uint64_t lines) {
  if (empty() || lines == 0) return;
  foreign_ += static_cast<int>(std::min<std::uint64_t>(lines, kMostForeign + 1));
  if (!prefixed_ || foreign_ > kMostForeign) *this = {};
}

// True: the line is a row of the traceback, and its prefix was taken off.
bool Heading::take_prefix(Peeled& line) {
  std::string_view rest = line.text;
  if (!take_alike(rest, prefix_)) {
    pass(1);
    return false;
  }
  prefixed_ = true;
  foreign_ = 0;
  if (rest.ends_with(kTracebackHead)) return false;  // the head of another traceback
  if (line.rank < 0)
    line.rank = rank_in_words(line.text.substr(0, line.text.size() - rest.size())).rank;
  line.text = rest;
  return true;
}

void Heading::read(Peeled& line) {
  if (of_ == Of::traceback && !prefix_.empty() && take_prefix(line)) return;
  if (line.text.ends_with("error stack:") && (line.rank >= 0 || !line.host.empty()))
    return begin(Of::stack, line);
  if (!line.text.ends_with(kTracebackHead)) return;
  const std::string_view prefix = line.text.substr(0, line.text.size() - kTracebackHead.size());
  if (line.rank < 0) line.rank = rank_in_words(prefix).rank;
  // A launcher labels each line, so rows without its label belong to another process.
  const bool tells = !line.labelled && (line.rank >= 0 || !line.host.empty());
  if (!tells && prefix.empty()) return;
  begin(Of::traceback, line);
  if (!tells) {
    known_.rank = -1;
    host_.clear();
  }
  if (prefix.size() <= kMostPrefixBytes) prefix_ = prefix;
}

void Heading::save(SavedWriter& saved) const {
  saved.number(static_cast<std::int64_t>(of_));
  Peeled known = known_;
  known.host = host_;
  saved.peeled(known);
  saved.text(prefix_);
  saved.number(prefixed_ ? 1 : 0);
  saved.number(foreign_);
}

void Heading::restore(SavedReader& saved) {
  const std::int64_t of = saved.number();
  const bool is_one = of >= 0 && of <= static_cast<std::int64_t>(Of::traceback);
  of_ = is_one ? static_cast<Of>(of) : Of::nothing;
  known_ = saved.peeled();
  known_.year_assumed = known_.time.known();
  host_ = known_.host;
  prefix_ = saved.text();
  prefixed_ = saved.number() != 0;
  foreign_ = saved.small_number();
}

}  // namespace faultline
