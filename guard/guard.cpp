#include "guard/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "logging/log.h"

namespace faultline {
namespace {

std::string sentence_of(const GuardStep& step, bool acts) {
  if (step.kind == GuardStep::Kind::take)
    return fmt::format("{} node {} out of scheduling: {}, {:.0f} % sure",
                       acts ? "takes" : "would take", step.node, step.finding.title,
                       step.finding.confidence * 100);
  if (step.kind == GuardStep::Kind::give_back)
    return fmt::format("{} node {} back: {}", acts ? "gives" : "would give", step.node, step.why);
  if (step.kind == GuardStep::Kind::settle)
    return fmt::format("{} node {} no more for what was found until now: {}",
                       acts ? "takes" : "would take", step.node, step.why);
  return fmt::format("leaves node {} alone: {}{}{}", step.node, step.finding.cause,
                     step.finding.cause.empty() ? "" : ": ", step.why);
}

}  // namespace

Guard::Guard(GuardSettings settings, GuardedCluster& cluster)
    : settings_(std::move(settings)), cluster_(cluster), server_(settings_.server) {}

bool Guard::round(Timestamp now) {
  said_before_ = std::exchange(said_, {});
  const auto cannot = [&](const Error& error) {
    tell(true, fmt::format("{}; no node changes", error.message));
    return false;
  };
  const Result<std::vector<GuardFinding>> open = server_.open();
  if (!open) return cannot(open.error());
  if (is_quiet(*open)) return true;
  const Result<std::vector<GuardNode>> nodes = cluster_.nodes();
  if (!nodes) return cannot(nodes.error());
  const Result<std::vector<GuardFinding>> findings = findings_for(*open, *nodes);
  if (!findings) return cannot(findings.error());
  bool all_done = true;
  for (const GuardStep& step : plan_guard(*findings, *nodes, settings_.limits, now))
    if (settings_.node.empty() || settings_.node == step.node)
      all_done = do_step(step, now) && all_done;
  return all_done;
}

// A guard of one node that nothing accuses and nothing was done to has no need to ask the
// scheduler, which matters where each of thousands of nodes has one.
bool Guard::is_quiet(const std::vector<GuardFinding>& open) const {
  if (settings_.node.empty() || cluster_.may_have_taken(settings_.node)) return false;
  const std::vector<GuardNode> own{{.name = settings_.node}};
  return std::ranges::none_of(open, [&](const GuardFinding& finding) {
    return std::ranges::any_of(
        finding.hosts, [&](const std::string& host) { return node_called(own, host) != nullptr; });
  });
}

// The open ones, and those for which nodes are taken now.
Result<std::vector<GuardFinding>> Guard::findings_for(const std::vector<GuardFinding>& open,
                                                      const std::vector<GuardNode>& nodes) {
  std::vector<GuardFinding> all = open;
  std::set<std::string> known;
  for (const GuardFinding& finding : open) known.insert(finding.id);
  for (const GuardNode& node : nodes) {
    if (!node.taken || node.memory.marks.empty()) continue;
    const std::string& id = node.memory.marks.back().finding;
    if (!known.insert(id).second) continue;
    Result<std::optional<GuardFinding>> finding = server_.one(id);
    if (!finding) return finding.error();
    if (*finding) all.push_back(std::move(**finding));
  }
  return all;
}

bool Guard::do_step(const GuardStep& step, Timestamp now) {
  tell(false, sentence_of(step, settings_.acts), &step);
  if (!settings_.acts || step.kind == GuardStep::Kind::leave) return true;
  const Result<void> done = done_by_cluster(step, now);
  if (!done) tell(true, fmt::format("node {} is unchanged: {}", step.node, done.error().message));
  return done.has_value();
}

Result<void> Guard::done_by_cluster(const GuardStep& step, Timestamp now) {
  if (step.kind == GuardStep::Kind::settle) return cluster_.settle(step.node, now);
  if (step.kind == GuardStep::Kind::give_back)
    return cluster_.give_back(step.node, step.finding.id, step.why, now);
  // In whole seconds, as schedulers keep it.
  return cluster_.take(step.node, step.finding,
                       {.finding = step.finding.id,
                        .incident = step.finding.incident,
                        .time = std::chrono::floor<std::chrono::seconds>(now)});
}

void Guard::tell(bool is_trouble, const std::string& text, const GuardStep* step) {
  const std::string once = step == nullptr ? text : text + step->finding.id;
  said_.insert(once);
  if (said_before_.contains(once)) return;
  std::vector<LogField> fields;
  if (step != nullptr) fields = {{"finding", step->finding.id}, {"job", step->finding.job}};
  say(is_trouble ? LogLevel::warning : LogLevel::info, "guard", text, std::move(fields));
}

}  // namespace faultline
