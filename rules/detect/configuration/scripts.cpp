#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "rules/detect/configuration/faults.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::string_view kScript = "script ";
constexpr std::string_view kTorch = "torch ";  // in force, wherever it was set
constexpr std::size_t kLongestValue = 60;

// A script alone does not show on how many hosts or ranks it will run.
bool can_be_told(const SuspiciousValue& value) {
  return value.where == Where::anywhere && value.cause == Cause::config_environment_mismatch;
}

bool stands_beside(const Setup& setup, const ProcessSetup& process, std::string_view variable) {
  return setup.answer(process, fmt::format("{}{}", kScript, variable)) != nullptr;
}

// If NCCL's own lines are there, NCCL was told to print them, wherever that was set.
bool nccl_prints(const View& view) { return !view.job.progress().members().empty(); }

std::string shown(std::string_view value) {
  if (value.size() <= kLongestValue) return std::string(value);
  return std::string(value.substr(0, kLongestValue)) + "…";
}

}  // namespace

std::vector<Suspicion> find_misunderstood_variables(const View& view) {
  const Setup& setup = view.job.setup();
  // One finding for each value, however many scripts or commands set it.
  std::map<std::pair<const SuspiciousValue*, std::string>, Suspicion> by_value;
  for (const ProcessSetup& process : setup.processes()) {
    if (!view.in_attempt(process.process)) continue;
    for (const AnswerGiven& answer : process.answers) {
      const std::string& question = setup.text(answer.question);
      if (!question.starts_with(kScript) && !question.starts_with(kTorch)) continue;
      const std::string name = question.substr(question.find(' ') + 1);
      const std::string& value = setup.text(answer.value);
      for (const SuspiciousValue& suspicious : view.catalog.settings.suspicious) {
        if (!can_be_told(suspicious) || !suspicious.matches("environment " + name, value)) continue;
        if (!suspicious.without.empty() &&
            (nccl_prints(view) || stands_beside(setup, process, suspicious.without)))
          continue;
        const auto [known, is_new] = by_value.try_emplace({&suspicious, value});
        Suspicion& suspicion = known->second;
        if (is_new) {
          suspicion = configuration_fault(suspicious.cause, suspicious.severity,
                                          {Claim::setting_suspicious, suspicious.confidence});
          suspicion.finding.title = fmt::format("{} is {}: {}", name, shown(value), suspicious.why);
        }
        add_setting_line(view, setup.line_of_answer(process.host, question, value), suspicion);
      }
    }
  }
  std::vector<Suspicion> found;
  for (auto& [key, suspicion] : by_value) found.push_back(std::move(suspicion));
  return found;
}

}  // namespace faultline
