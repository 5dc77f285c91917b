#include "app/colours.h"

#include <unistd.h>

#include <cstdlib>

namespace faultline {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kBoldRed = "\x1b[1;31m";
constexpr std::string_view kBoldGreen = "\x1b[1;32m";
constexpr std::string_view kBoldYellow = "\x1b[1;33m";
constexpr std::string_view kBoldCyan = "\x1b[1;36m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string_view value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string_view() : value;
}

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::healthy:
    case Verdict::running:
      return kBoldGreen;
    case Verdict::unknown:
    case Verdict::undecided:
    case Verdict::slow:
      return kBoldYellow;
    case Verdict::hang:
    case Verdict::failed:
    case Verdict::corrupt:
      break;
  }
  return kBoldRed;
}

}  // namespace

bool wants_colours(std::string_view choice, std::FILE* stream) {
  if (choice != "auto") return choice == "always";
  return value_of("NO_COLOR").empty() && value_of("TERM") != "dumb" && isatty(fileno(stream)) == 1;
}

std::string coloured(std::string_view text, const Diagnosis& diagnosis) {
  std::string out;
  const auto paint = [&](std::string_view colour, std::string_view part) {
    out += colour;
    out += part;
    out += kPlain;
    text.remove_prefix(part.size());
  };
  const auto copy_line_end = [&] {
    if (text.starts_with('\n')) out += '\n';
    text.remove_prefix(text.empty() ? 0 : 1);
  };
  paint(colour_of(diagnosis.verdict), text.substr(0, text.find('\n')));
  copy_line_end();
  if (!diagnosis.root_causes.empty()) paint(kBold, text.substr(0, text.find('\n')));
  constexpr std::string_view kNext = "\nnext:";
  if (const std::size_t next = text.find(kNext); next != std::string_view::npos) {
    out += text.substr(0, next + 1);
    text.remove_prefix(next + 1);
    paint(kBoldCyan, kNext.substr(1));
  }
  return out.append(text);
}

}  // namespace faultline
