#include "parsers/scheduler/slurm_words.h"

#include "parsers/pattern.h"

namespace faultline {

std::optional<SlurmStep> slurm_step(std::string_view text) {
  static const Pattern kStep(
      R"(^(\d+(?:_(?:\d+|\[[\d,%-]+\]?))?(?:\+\d+)?)(?:\(\d+\))?(?:\.([a-z\d]+))?\+?$)");
  SlurmStep step;
  if (!kStep.find(text, &step.job, &step.step)) return std::nullopt;
  return step;
}

bool is_exit_code(std::string_view text) {
  static const Pattern kCode(R"(^\d+:\d+$)");
  return kCode.find(text);
}

bool is_node_list(std::string_view text) {
  static const Pattern kList(
      R"(^[A-Za-z][\w.-]*(?:\[[\d,-]+\][\w.-]*)*(?:,[A-Za-z][\w.-]*(?:\[[\d,-]+\][\w.-]*)*)*$)");
  return text != "n/a" && kList.find(text);
}

}  // namespace faultline
