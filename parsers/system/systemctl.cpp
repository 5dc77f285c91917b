#include "parsers/system/systemctl.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// The mark of a unit's state, in terminals with and without Unicode.
constexpr std::string_view kDots[] = {"● ", "○ ", "× ", "↻ ", "* ", "x "};

// "slurmd.service" of "● slurmd.service - Slurm node daemon".
std::string_view unit_of(std::string_view text) {
  text.remove_prefix(indentation(text));
  for (const std::string_view dot : kDots) {
    if (!text.starts_with(dot)) continue;
    text.remove_prefix(dot.size());
    const std::string_view unit = text.substr(0, text.find(' '));
    text.remove_prefix(unit.size());
    const bool is_unit = unit.ends_with(".service") || unit.ends_with(".mount");
    return is_unit && (text.empty() || text.starts_with(" - ")) ? unit : std::string_view();
  }
  return {};
}

// "Thu 2026-03-05 02:47:10 UTC; 4s ago". The name of another zone would not be precise enough.
std::optional<Timestamp> since_in(std::string_view text) {
  const auto words = words_of(text, 8);
  if (words.size() < 4 || !words[3].starts_with("UTC")) return std::nullopt;
  return parse_rfc3339(fmt::format("{}T{}Z", words[1], words[2]));
}

bool is_key(std::string_view text) {
  constexpr std::string_view kKeys[] = {
      "Loaded",   "Drop-In", "Active",    "Docs",     "Process", "Main PID",    "Status",
      "Tasks",    "Memory",  "CPU",       "CGroup",   "Where",   "Invocation",  "Triggers",
      "Duration", "What",    "Transient", "IP",       "IO",      "TriggeredBy", "Follows",
      "Until",    "Trigger", "Mem peak",  "FD Store", "Listen",  "Condition",   "Assert"};
  return std::ranges::find(kKeys, text) != std::ranges::end(kKeys);
}

class UnitStatus : public PartDocument {
 public:
  UnitStatus() : PartDocument("systemctl") {}

 private:
  Line read(std::string_view text) override {
    if (const std::string_view unit = unit_of(text); !unit.empty()) {
      give_all();
      time_ = std::nullopt;
      open("host").name("unit", unit);
      return Line::part;
    }
    const bool is_indented = indentation(text) > 0;
    text.remove_prefix(indentation(text));
    const std::size_t colon = std::min(text.find(": "), text.size());
    const std::string_view key = text.substr(0, colon);
    if (colon == text.size() || !is_key(key))
      return is_indented && is_below(text) ? Line::part : Line::after;
    if (key == "Active" && last() != nullptr && !cut()) read_state(text.substr(colon + 2));
    return Line::part;
  }

  // "failed (Result: exit-code) since Thu 2026-03-05 02:47:10 UTC; 4s ago"
  void read_state(std::string_view text) {
    constexpr std::string_view kSince = " since ";
    const std::size_t since = text.find(kSince);
    if (since != text.npos) time_ = since_in(text.substr(since + kSince.size()));
    last()->value(std::string(last()->name_of("unit")), trimmed(text.substr(0, since)));
    rest_on_line(*last());
  }

  // Drop-ins and processes: "└─override.conf", "├─4242 /usr/sbin/slurmd",
  // "/etc/systemd/system/x.d".
  static bool is_below(std::string_view text) {
    constexpr std::string_view kBeginnings[] = {"└", "├", "│", "|-", "`-", "/"};
    return std::ranges::any_of(
        kBeginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
  }
};

}  // namespace

bool begins_systemctl(std::string_view text) { return !unit_of(text).empty(); }

std::unique_ptr<Document> make_systemctl() { return std::make_unique<UnitStatus>(); }

}  // namespace faultline
