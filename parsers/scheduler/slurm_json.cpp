#include "parsers/scheduler/slurm_json.h"

#include <string>

#include "parsers/scheduler/slurm_words.h"
#include "parsers/tool/part_json.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

class SlurmNodes : public PartJson {
 public:
  SlurmNodes() : PartJson("scontrol") {}

  void key(std::string_view path) override {
    if (sense_ == Sense::unsure &&
        (path == "nodes/slurmd_version" || path == "nodes/slurmd_start_time" ||
         path == "nodes/cpu_binding" || path == "nodes/gres"))
      sense_ = Sense::mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    if (!take_front(path, "nodes/")) return;
    const std::string text = unescaped(value.text);
    if (path == "name") return set(kName, text);
    if (path == "reason") return set(kReason, text);
    if (path != "state") return;
    // The first element is the state, the others are flags. Old versions print one text.
    if (get(kState).empty()) return set(kState, text);
    std::string flags(get(kFlags));
    if (!flags.empty()) flags += '+';
    set(kFlags, flags + text);
  }

  void closed_object(std::string_view path) override {
    if (path == "nodes") tell_node();
    if (path.empty() && sense_ == Sense::mine) give_all();
  }

 private:
  enum Word { kName, kReason, kState, kFlags };

  void tell_node() {
    if (is_node_list(get(kName)) && !get(kState).empty()) {
      OpenPart& node = open("nodes");
      node.name("nodes", get(kName));
      node.value("State", get(kState));
      if (!get(kFlags).empty()) node.value("Flags", get(kFlags));
      if (!get(kReason).empty()) node.value("Reason", get(kReason));
    }
    for (const Word word : {kName, kReason, kState, kFlags}) set(word, {});
  }
};

}  // namespace

bool begins_slurm_json(std::string_view first_key) { return first_key == "nodes"; }

std::unique_ptr<JsonReport> make_slurm_json() { return std::make_unique<SlurmNodes>(); }

}  // namespace faultline
