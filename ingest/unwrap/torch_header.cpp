#include "ingest/unwrap/torch_header.h"

#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

constexpr std::size_t kMaxFileBytes = 256;

bool is_severity(char c) { return std::string_view("VDIWEFC").find(c) != std::string_view::npos; }

bool is_below_error(char severity) {
  return std::string_view("VDIW").find(severity) != std::string_view::npos;
}

bool ends_in_source_file(std::string_view name) {
  for (const std::string_view ending : {".cpp", ".hpp", ".cc", ".h", ".cu", ".py"})
    if (name.ends_with(ending)) return true;
  return false;
}

// "ProcessGroupNCCL.cpp:616] ", with the blank optional where nothing follows it.
bool take_file_and_line(std::string_view& rest) {
  const std::size_t end = rest.substr(0, kMaxFileBytes).find(']');
  if (end == std::string_view::npos) return false;
  const std::string_view place = rest.substr(0, end);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || !ends_in_source_file(place.substr(0, colon))) return false;
  std::string_view number = place.substr(colon + 1);
  std::int64_t line_number = 0;
  if (!take_number(number, line_number) || !number.empty()) return false;
  rest.remove_prefix(end + 1);
  take(rest, ' ');
  return true;
}

}  // namespace

bool peel_c10_header(Peeled& line, Timestamp reference) {
  std::string_view rest = line.text;
  if (!take(rest, '[') || rest.empty() || !is_severity(rest.front())) return false;
  const char severity = rest.front();
  rest.remove_prefix(1);
  // The fraction is of another clock than the seconds.
  const auto stamp = take_month_day_stamp(rest, reference, Fraction::ignored);
  if (!take(rest, ' ') || !take_file_and_line(rest)) return false;
  if (stamp) line.stamped_without_year(*stamp);
  line.is_remark = is_below_error(severity);
  line.text = rest;
  return true;
}

bool peel_glog_header(Peeled& line, Timestamp reference) {
  std::string_view rest = line.text;
  if (rest.size() < 2 || !is_severity(rest.front()) || !is_digit(rest[1])) return false;
  const char severity = rest.front();
  rest.remove_prefix(1);
  const auto stamp = take_month_day_stamp(rest, reference, Fraction::counts);
  std::int64_t thread = 0;
  if (!stamp || take_blanks(rest) == 0 || !take_number(rest, thread) || !take(rest, ' ') ||
      !take_file_and_line(rest))
    return false;
  line.stamped_without_year(*stamp);
  line.is_remark = is_below_error(severity);
  line.text = rest;
  return true;
}

bool peel_vllm_header(Peeled& line, Timestamp reference) {
  std::string_view rest = line.text;
  const std::string_view level = take_while(rest, is_letter);
  const bool is_error = level == "ERROR" || level == "CRITICAL";
  if (!is_error && level != "WARNING" && level != "INFO" && level != "DEBUG") return false;
  if (!take(rest, ' ')) return false;
  const auto stamp = take_month_day_stamp(rest, reference, Fraction::counts);
  if (!stamp || !take(rest, ' ')) return false;
  take(rest, '[');
  if (!take_file_and_line(rest)) return false;
  line.stamped_without_year(*stamp);
  line.is_remark = !is_error;
  line.text = rest;
  return true;
}

bool peel_python_log_header(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, '[')) return false;
  const auto stamp = take_iso_stamp(rest);
  if (!stamp || !take(rest, "] ") || !rest.starts_with("torch.")) return false;
  if (take_while(rest, is_name).empty() || !take(rest, ": [")) return false;
  if (take_while(rest, is_letter).empty() || !take(rest, "] ")) return false;
  line.stamped(stamp->time);
  line.text = rest;
  return true;
}

bool peel_python_level(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, "WARNING:torch.") && !take(rest, "ERROR:torch.") && !take(rest, "INFO:torch."))
    return false;
  take_while(rest, is_name);
  if (!take(rest, ':')) return false;
  line.text = rest;
  return true;
}

std::size_t find_glued_torch_line(std::string_view text) {
  constexpr std::string_view kLabel = "[rank";
  for (std::size_t at = text.find(kLabel); at != std::string_view::npos;
       at = text.find(kLabel, at + 1)) {
    std::string_view rest = text.substr(at + kLabel.size());
    std::int64_t rank = 0;
    if (at > 0 && take_number(rest, rank, 6) && take(rest, "]:[") && rest.size() > 1 &&
        is_severity(rest.front()) && (is_digit(rest[1]) || rest[1] == ' '))
      return at;
  }
  return std::string_view::npos;
}

}  // namespace faultline
