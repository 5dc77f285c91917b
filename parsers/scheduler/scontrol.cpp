#include "parsers/scheduler/scontrol.h"

#include <algorithm>

#include "parsers/pattern.h"
#include "parsers/scheduler/slurm_words.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kNode = "NodeName=";
constexpr std::string_view kJob = "JobId=";

// The text after `name`, where it begins a word; empty: `name` does not occur.
std::string_view behind(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
    if (at == 0 || text[at - 1] == ' ') return text.substr(at + name.size());
  return {};
}

std::string_view word_behind(std::string_view text, std::string_view name) {
  text = behind(text, name);
  return text.substr(0, text.find(' '));
}

// A reason has several words. It ends before "[user@time]", before the next field, or with the
// line.
std::string_view reason_in(std::string_view text) {
  static const Pattern kNext(R"(^(.*?)(?: \[\w+@[\w:.-]+\].*| +[A-Z]\w*=.*)?$)");
  std::string_view reason;
  kNext.find(behind(text, "Reason="), &reason);
  return trimmed(reason);
}

class Scontrol : public PartDocument {
 public:
  Scontrol() : PartDocument("scontrol") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (cut()) return last() == nullptr ? Line::after : Line::foreign;
    if (begins_scontrol(text)) {
      if (text.starts_with(kNode)) {
        open("nodes").name("nodes", word_behind(text, kNode));
      } else {
        const auto step = slurm_step(word_behind(text, kJob));
        open("job").name("job", step ? step->job : std::string_view());
      }
    } else if (last() == nullptr) {
      return Line::after;
    } else if (!is_field(text)) {
      return Line::foreign;
    }
    last()->report.kind == "nodes" ? read_node(text) : read_job(text);
    return Line::part;
  }

  static bool is_field(std::string_view text) {
    static const Pattern kField(R"(^[A-Z][\w:]*=)");
    return kField.find(text);
  }

  void add(std::string_view name, std::string_view value) {
    if (!value.empty() && value != "(null)" && value != "None" && !last()->has_value(name))
      last()->value(name, value);
  }

  // State=DOWN+DRAIN: the state, and flags that an administrator or Slurm set.
  void read_node(std::string_view text) {
    const std::string_view state = word_behind(text, "State=");
    const std::size_t plus = std::min(state.find('+'), state.size());
    add("State", state.substr(0, plus));
    if (plus < state.size()) add("Flags", state.substr(plus + 1));
    add("BootTime", word_behind(text, "BootTime="));
    add("Reason", reason_in(text));
  }

  void read_job(std::string_view text) {
    for (const std::string_view name :
         {"JobState=", "Reason=", "ExitCode=", "StartTime=", "EndTime=", "NodeList="})
      add(name.substr(0, name.size() - 1), word_behind(text, name));
  }
};

}  // namespace

bool begins_scontrol(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with(kNode))
    return is_node_list(word_behind(text, kNode)) &&
           (text.find(" Arch=") != text.npos || text.find(" CoresPerSocket=") != text.npos ||
            text.find(" State=") != text.npos);
  return text.starts_with(kJob) && slurm_step(word_behind(text, kJob)) &&
         (text.find(" JobName=") != text.npos || text.find(" ArrayJobId=") != text.npos);
}

std::unique_ptr<Document> make_scontrol() { return std::make_unique<Scontrol>(); }

}  // namespace faultline
