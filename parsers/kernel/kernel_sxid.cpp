#include "parsers/kernel/kernel_sxid.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "model/pci_address.h"
#include "parsers/scan.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr std::string_view kTag = "SXid (";
constexpr std::string_view kDetected = "detected NVSwitch ";

using tool_text::trimmed;

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.find("#012")));
}

void skip_blanks(Scan& in) {
  while (in.skip(" ") || in.skip("\t")) {
  }
}

void read_words(std::string_view text, SwitchError& error) {
  Scan in(text);
  skip_blanks(in);
  for (const std::string_view word : {"Fatal", "Non-fatal", "Correctable"}) {
    const std::string_view rest = in.rest();
    if (!rest.starts_with(word) || !rest.substr(word.size()).starts_with(',')) continue;
    error.printed = word;
    in = Scan(rest.substr(word.size() + 1));
    break;
  }
  skip_blanks(in);
  const std::string_view before_link = in.rest();
  if (int link = 0; in.skip("Link ") && in.decimal(link))
    error.link = link;
  else
    in = Scan(before_link);
  error.detail = trimmed(in.rest());
  error.goes_on = error.printed.empty() &&
                  (error.detail.starts_with("Severity ") || error.detail.starts_with("Data {"));
}

// "0000:c1:00.0): 12028, ..." after the bracket. Without the comma the code may be cut.
bool read_sxid(std::string_view line, SwitchError& error) {
  Scan in(line);
  std::string_view where;
  in.skip("PCI:");
  if (!in.until(')', where) || !in.skip(":")) return false;
  auto nvswitch = normal_pci(where);
  skip_blanks(in);
  if (!nvswitch || !in.decimal(error.code) || !in.skip(",")) return false;
  error.nvswitch = std::move(*nvswitch);
  error.teller = "driver";
  read_words(in.rest(), error);
  return true;
}

// [Mar 05 2026 02:47:12]
std::optional<Timestamp> read_stamp(std::string_view text) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  Scan in(text);
  if (!in.skip("[")) return {};
  const auto month_name = std::ranges::find(kMonths, in.letters());
  int day_number = 0;
  int year_number = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  skip_blanks(in);
  const bool read = in.decimal(day_number) && in.skip(" ") && in.decimal(year_number) &&
                    in.skip(" ") && in.decimal(hour) && in.skip(":") && in.decimal(minute) &&
                    in.skip(":") && in.decimal(second) && in.skip("]");
  if (!read || month_name == kMonths.end() || year_number > 9999) return {};
  const year_month_day date{year{year_number},
                            month{static_cast<unsigned>(month_name - kMonths.begin() + 1)},
                            day{static_cast<unsigned>(day_number)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return {};
  return sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
}

// "fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33"
bool read_detected(std::string_view text, SwitchError& error) {
  Scan in(text);
  if (in.skip("fatal "))
    error.printed = "Fatal";
  else if (in.skip("non-fatal "))
    error.printed = "Non-fatal";
  if (!in.skip("error ") || !in.decimal(error.code) || !in.skip(" ")) return false;
  constexpr std::string_view kAddress = "pci bus id ";
  const std::string_view rest = in.rest();
  const std::size_t at = rest.find(kAddress);
  if (at == std::string_view::npos) return false;
  in = Scan(rest.substr(at + kAddress.size()));
  auto nvswitch = normal_pci(in.word());
  if (!nvswitch) return false;
  error.nvswitch = std::move(*nvswitch);
  error.teller = "fabric_manager";
  constexpr std::string_view kPort = " port ";
  if (const std::size_t port = in.rest().find(kPort); port != std::string_view::npos) {
    in = Scan(in.rest().substr(port + kPort.size()));
    if (int link = 0; in.decimal(link)) error.link = link;
  }
  return true;
}

}  // namespace

bool parse_sxid(std::string_view text, std::vector<Reading>& readings) {
  std::size_t at = text.find(kTag);
  bool mine = false;
  while (at != std::string_view::npos) {
    const std::size_t begin = at + kTag.size();
    at = text.find(kTag, begin);
    SwitchError error;
    // Do not take the next record's "nvidia-nvswitch0: " into the text of this record.
    std::string_view line = first_line(text.substr(begin, at - begin));
    if (at != std::string_view::npos) line = line.substr(0, line.rfind("nvidia-nvswitch"));
    if (!read_sxid(line, error)) continue;
    readings.push_back({.fact = std::move(error)});
    mine = true;
  }
  return mine;
}

bool parse_fabric_manager(std::string_view text, std::vector<Reading>& readings) {
  const std::size_t at = text.find(kDetected);
  if (at == std::string_view::npos) return false;
  SwitchError error;
  const std::string_view told = first_line(text.substr(at));
  if (!read_detected(told.substr(kDetected.size()), error)) return false;
  error.detail = trimmed(told);
  Reading reading{.fact = std::move(error)};
  reading.time = read_stamp(trimmed(text));
  readings.push_back(std::move(reading));
  return true;
}

}  // namespace faultline
