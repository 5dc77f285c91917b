#include "rules/picture/calls/start_stages.h"

#include <map>
#include <set>

namespace faultline {
namespace {

constexpr std::size_t kLeastProcesses = 3;
constexpr std::size_t kOthersPerCulprit = 3;  // at least this many others got further

// Compares kinds of lines, because the GPU or NIC in a line differs from rank to rank.
std::set<std::string> stages_of(const View& view, const ProcessKey& process) {
  std::set<std::string> stages;
  const ProcessSetup* setup = view.job.setup().find(process);
  if (setup == nullptr) return stages;
  auto add = [&](const std::vector<AnswerGiven>& answers) {
    for (const AnswerGiven& answer : answers) {
      const std::string& question = view.job.setup().text(answer.question);
      const std::string group = question.substr(0, question.find(' '));
      // Settings are not steps of the startup.
      if (group != "environment" && group != "config") stages.insert(group);
    }
  };
  add(setup->answers);
  for (const CommunicatorSetup& communicator : setup->communicators) {
    add(communicator.answers);
    if (communicator.nodes > 0) stages.insert("topology");
    for (const StepDone& done : communicator.steps) stages.insert(view.job.setup().text(done.step));
  }
  return stages;
}

}  // namespace

LeftBehind left_behind_in_start(const View& view, const std::vector<ProcessKey>& processes) {
  LeftBehind behind;
  if (processes.size() < kLeastProcesses) return behind;
  std::vector<std::set<std::string>> stages;
  std::map<std::string, std::size_t> reached;
  for (const ProcessKey& process : processes) {
    stages.push_back(stages_of(view, process));
    for (const std::string& stage : stages.back()) ++reached[stage];
  }
  for (const auto& [stage, count] : reached) {
    const std::size_t missing = processes.size() - count;
    if (missing == 0 || missing * kOthersPerCulprit > count) continue;
    std::vector<ProcessKey> without;
    for (std::size_t i = 0; i < processes.size(); ++i)
      if (!stages[i].contains(stage)) without.push_back(processes[i]);
    // If different ranks lack different steps, lines were lost; that shows no stuck rank.
    if (!behind.processes.empty() && behind.processes != without) return {};
    const bool one_line = behind.processes.empty() && without.size() == 1;
    behind = {std::move(without), stage, one_line};
  }
  return behind;
}

}  // namespace faultline
