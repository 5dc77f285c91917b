#include "ingest/unwrap/heading.h"

#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {
namespace {

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

}  // namespace

bool Heading::begin_wall(std::string_view text, Timestamp reference) {
  if (!take(text, "Message from syslogd@")) return false;
  const std::string_view host = take_while(text, is_name);
  if (host.empty() || !take(text, " at ")) return false;
  const auto stamp = take_syslog_stamp(text, reference);
  if (!stamp) return false;
  take_blanks(text);
  if (!text.empty() && text != "...") return false;
  of_ = Of::wall;
  host_ = host;
  known_ = {};
  known_.stamped_without_year(*stamp);
  return true;
}

void Heading::read(const Peeled& line) {
  if (line.rank < 0 && line.host.empty()) return;
  if (line.text.ends_with("error stack:"))
    of_ = Of::stack;
  else if (line.text.ends_with("Traceback (most recent call last):"))
    of_ = Of::traceback;
  else
    return;
  host_ = line.host;
  known_ = {};
  known_.rank = line.rank;
  known_.host_is_label = line.host_is_label;
  known_.stamped_without_year(line.time);  // whose year is known already
}

bool Heading::knows(std::string_view text) const {
  if (of_ == Of::stack) return is_row_of_stack(text);
  if (!text.empty() && is_blank(text.front())) return true;
  return of_ == Of::traceback && may_be_raised(text);
}

void Heading::tell(Peeled& line) {
  if (empty()) return;
  if (!knows(line.text)) {
    *this = {};
    return;
  }
  const std::string_view text = line.text;
  line = known_;
  line.text = text;
  line.host = host_;
  // Below the frames stands what was raised.
  if (of_ == Of::traceback && !is_blank(text.front())) of_ = Of::nothing;
}

void Heading::save(SavedWriter& saved) const {
  saved.number(static_cast<std::int64_t>(of_));
  Peeled known = known_;
  known.host = host_;
  saved.peeled(known);
}

void Heading::restore(SavedReader& saved) {
  const std::int64_t of = saved.number();
  of_ =
      of >= 0 && of <= static_cast<std::int64_t>(Of::traceback) ? static_cast<Of>(of) : Of::nothing;
  known_ = saved.peeled();
  known_.year_assumed = known_.time.known();
  host_ = known_.host;
}

}  // namespace faultline
