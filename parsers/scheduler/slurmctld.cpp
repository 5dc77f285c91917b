#include "parsers/scheduler/slurmctld.h"

#include <string>

#include "parsers/pattern.h"
#include "parsers/scheduler/slurm_words.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using tool_text::trimmed;

constexpr std::string_view kTool = "slurmctld";

PartReport of_nodes(std::string_view nodes, std::string_view field, std::string_view value) {
  return {.tool = std::string(kTool),
          .kind = "nodes",
          .names = {{"nodes", std::string(nodes)}},
          .values = {{std::string(field), std::string(value)}}};
}

PartReport of_job(std::string_view job, std::string_view field, std::string_view value) {
  const auto step = slurm_step(job);
  return {.tool = std::string(kTool),
          .kind = "job",
          .names = {{"job", std::string(step ? step->job : job)}},
          .values = {{std::string(field), std::string(value)}}};
}

// Node vm1 …, Nodes vm[1,3] …, node vm1 …
bool read_nodes(std::string_view text, bool labelled, std::vector<PartReport>& told) {
  static const Pattern kEvent(
      R"(^Nodes? (\S+) ((?:has )?unexpectedly rebooted|rebooted, killing missing step|not responding(?:, setting DOWN)?|now responding))");
  static const Pattern kSet(R"(^node (\S+) (reason|state) set to:? ?(.+)$)");
  static const Pattern kProlog(R"(^(Prolog/Epilog failure) on nodes (\S+), set to state DRAIN)");
  static const Pattern kRefused(R"(^Setting node (\S+) state to INVAL with reason: ?(.+)$)");
  static const Pattern kFailed(
      R"(^(?:Killing JobId=(\S+) on|Removing) (failed node) (\S+)(?: from JobId=\S+)?$)");
  std::string_view nodes;
  std::string_view what;
  std::string_view field;
  std::string_view job;
  if (kEvent.find(text, &nodes, &what) || kFailed.find(text, &job, &what, &nodes))
    field = "event";
  else if (kSet.find(text, &nodes, &field, &what))
    what = trimmed(what);
  else if (kRefused.find(text, &nodes, &what))
    field = "refused";
  else if (kProlog.find(text, &what, &nodes))
    field = "reason";
  if (field.empty() || !is_node_list(nodes)) return false;
  // Other programs print "Node is not responding".
  if (!labelled && nodes.find_first_of("0123456789") == nodes.npos) return false;
  told.push_back(of_nodes(nodes, field, what));
  if (slurm_step(job)) {
    told.push_back(of_job(job, "event", "killed on failed node"));
    told.back().values.push_back({"NodeList", std::string(nodes)});
  }
  return true;
}

bool read_job(std::string_view text, std::vector<PartReport>& told) {
  static const Pattern kEvent(
      R"(^(Time limit exhausted for|preempted|REQUEST_KILL_JOB) JobId=(\S+)((?: has been \w+| uid \d+)?))");
  static const Pattern kEnd(R"(^JobId=(\S+) (?:(WEXITSTATUS|WTERMSIG) (\d+)|(OOM failure))$)");
  std::string_view what;
  std::string_view job;
  std::string_view more;
  std::string_view memory;
  if (kEvent.find(text, &what, &job, &more) && slurm_step(job)) {
    told.push_back(of_job(job, "event", std::string(what).append(more)));
    return true;
  }
  if (!kEnd.find(text, &job, &what, &more, &memory) || !slurm_step(job)) return false;
  told.push_back(memory.empty() ? of_job(job, what, more) : of_job(job, "event", memory));
  return true;
}

// "slurmctld: ", "error: ", "_job_complete: "
void take_labels(std::string_view& text) {
  constexpr int kMost = 4;
  static const Pattern kLabel(R"(^((?:slurmctld\[\d+\]|[a-z_]\w*): ))");
  std::string_view label;
  for (int i = 0; i < kMost && kLabel.find(text, &label); ++i) text.remove_prefix(label.size());
}

}  // namespace

bool parse_slurmctld(std::string_view text, std::vector<Reading>& readings) {
  text = trimmed(text);
  const std::size_t whole = text.size();
  take_labels(text);
  std::vector<PartReport> told;
  if (!read_nodes(text, text.size() < whole, told) && !read_job(text, told)) return false;
  for (PartReport& report : told) readings.push_back({.fact = std::move(report)});
  return true;
}

}  // namespace faultline
