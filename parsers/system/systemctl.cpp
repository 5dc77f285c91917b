#include "parsers/system/systemctl.h"

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// What stands before a unit: its state, in the words of terminals that can and cannot.
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

class UnitStatus : public PartDocument {
 public:
  UnitStatus() : PartDocument("systemctl") {}

 private:
  Line read(std::string_view text) override {
    if (const std::string_view unit = unit_of(text); !unit.empty()) {
      give_all();
      open("host").name("unit", unit);
      return Line::part;
    }
    text.remove_prefix(indentation(text));
    const std::size_t colon = text.find(": ");
    constexpr std::string_view kKeys[] = {
        "Loaded",      "Drop-In", "Active", "Docs",   "Process",  "Main PID",   "Status",
        "Tasks",       "Memory",  "CPU",    "CGroup", "Duration", "Invocation", "Triggers",
        "TriggeredBy", "Where",   "What",   "IP",     "IO"};
    const std::string_view key = text.substr(0, colon);
    if (colon == text.npos || std::ranges::find(kKeys, key) == std::ranges::end(kKeys))
      return starts_with_tree(text) ? Line::part : Line::after;
    if (last() == nullptr) return Line::part;
    if (key == "Active") {
      // "failed (Result: exit-code) since …; 4s ago"
      std::string_view state = text.substr(colon + 2);
      state = trimmed(state.substr(0, state.find(" since ")));
      last()->value(std::string(last()->name_of("unit")), state);
      rest_on_line(*last());
    }
    return Line::part;
  }

  // Drop-ins and processes: "└─override.conf", "├─4242 /usr/sbin/slurmd".
  static bool starts_with_tree(std::string_view text) {
    return text.starts_with("└") || text.starts_with("├") || text.starts_with("│") ||
           text.starts_with("|-") || text.starts_with("`-");
  }
};

}  // namespace

bool begins_systemctl(std::string_view text) { return !unit_of(text).empty(); }

std::unique_ptr<Document> make_systemctl() { return std::make_unique<UnitStatus>(); }

}  // namespace faultline
