#include "model/kernel_frame.h"

#include <algorithm>

namespace faultline {
namespace {

bool is_of_symbol(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

bool is_hex_number(std::string_view text) {
  return text.size() > 2 && text.starts_with("0x") &&
         text.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

std::string_view without_blanks_behind(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "[<ffffffffc0a1b2c3>]", "RIP: 0010:", "pc :": what stands before a function's name.
bool may_stand_before(std::string_view text) {
  text = without_blanks_behind(text);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.empty() || text.ends_with(">]") ||
         (text.starts_with("RIP:") && text.ends_with(':')) || text == "pc :" || text == "PC is at";
}

}  // namespace

bool ends_kernel_stack(std::string_view text) {
  constexpr std::string_view kBeginnings[] = {"---[ end trace", "------------[ cut here",
                                              "WARNING: CPU: ", "NMI backtrace for cpu ",
                                              "sysrq: ",        "SysRq : "};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return text.starts_with(begin); }) ||
         text.find(": page allocation failure: ") != std::string_view::npos;
}

std::optional<KernelFrame> kernel_frame_in(std::string_view text) {
  text = without_blanks_behind(text);
  if (!text.ends_with(']')) return std::nullopt;
  const std::size_t bracket = text.rfind(" [");
  if (bracket == std::string_view::npos) return std::nullopt;
  std::string_view module = text.substr(bracket + 2, text.size() - bracket - 3);
  module = module.substr(0, module.find(' '));  // its build follows
  const std::string_view frame = text.substr(0, bracket);
  const std::size_t plus = frame.rfind("+0x");
  if (module.empty() || !std::ranges::all_of(module, is_of_symbol) ||
      plus == std::string_view::npos)
    return std::nullopt;
  const std::string_view place = frame.substr(plus + 1);
  const std::size_t slash = std::min(place.find('/'), place.size());
  if (slash == place.size() || !is_hex_number(place.substr(0, slash)) ||
      !is_hex_number(place.substr(slash + 1)))
    return std::nullopt;
  std::size_t begin = plus;
  while (begin > 0 && is_of_symbol(frame[begin - 1])) --begin;
  if (begin == plus || !may_stand_before(frame.substr(0, begin))) return std::nullopt;
  return KernelFrame{frame.substr(begin, plus - begin), module};
}

}  // namespace faultline
