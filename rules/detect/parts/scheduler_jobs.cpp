#include "rules/detect/parts/scheduler_jobs.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <ranges>
#include <tuple>

namespace faultline {
namespace {

constexpr std::size_t kMostOfAList = 1024;  // jobs that may have run at a time
constexpr std::size_t kMostOfUnknownNodes = 64;

// Whether Slurm itself ended the step, for a reason that the job's row gives.
bool is_echo(const ConditionHit& hit) {
  return !hit.record->name("step").empty() && hit.value.starts_with("CANCELLED");
}

// A sort key: the smallest hit says most. A node that died takes all steps with it, and some of
// them end badly; otherwise the step that failed first shows why the job did.
auto how_telling(const PartFacts& facts, const ConditionHit& hit) {
  const std::string_view step = hit.record->name("step");
  const int what = hit.condition->finding == Cause::host_down         ? 0
                   : hit.condition->finding == Cause::host_oom_killed ? 1
                   : is_echo(hit)                                     ? 4
                   : step.empty()                                     ? 3
                                                                      : 2;
  std::string ended = value_in(facts, *hit.record, {"end"});
  if (ended.empty() || std::isdigit(static_cast<unsigned char>(ended.front())) == 0) ended = "~";
  int number = INT32_MAX;  // batch and extern end after the steps that they hold
  if (step.empty() && what == 0) number = -1;
  std::from_chars(step.data(), step.data() + step.size(), number);
  return std::tuple(what, what == 2 ? ended : std::string(), -hit.condition->confidence, number);
}

std::string job_number(std::string_view name) {
  return std::string(name.substr(0, name.find_first_not_of("0123456789_")));
}

// "99" comes before "100".
struct ByNumber {
  static std::size_t digits(const std::string& name) {
    return std::min(name.find_first_not_of("0123456789"), name.size());
  }
  bool operator()(const std::string& a, const std::string& b) const {
    return std::tuple(digits(a), std::string_view(a)) < std::tuple(digits(b), std::string_view(b));
  }
};

void settle_ending(const PartFacts& facts, ScheduledJob& job) {
  std::vector<ConditionHit> hits;
  bool whole_is_told = false;
  for (const PartRecord* record : job.records) {
    const bool whole = record->name("step").empty();
    for (ConditionHit& hit : conditions_met(facts, *record)) {
      whole_is_told |= whole;
      hits.push_back(std::move(hit));
    }
  }
  if (hits.empty() || (job.completed && !whole_is_told)) return;
  std::ranges::stable_sort(hits, {},
                           [&](const ConditionHit& hit) { return how_telling(facts, hit); });
  job.ending = hits.front();
  for (std::size_t i = 1; i < hits.size(); ++i)
    if (hits[i].condition->finding == job.ending->condition->finding)
      job.as_well.push_back(hits[i]);
}

void keep_last(std::vector<const ScheduledJob*>& jobs, std::size_t most) {
  if (jobs.size() > most) jobs.erase(jobs.begin(), jobs.end() - static_cast<std::ptrdiff_t>(most));
}

bool may_run(const ScheduledJob& job) { return !job.completed && is_scheduler_stamp(job.start); }

bool ran_at(const ScheduledJob& job, const std::string& booted) {
  return job.start < booted && (!is_scheduler_stamp(job.end) || job.end >= booted);
}

bool lost_a_node(const ScheduledJob& job) {
  return job.ending && job.ending->condition->finding == Cause::host_down;
}

}  // namespace

std::string value_in(const PartFacts& facts, const PartRecord& record,
                     std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields)
    for (const PartSeries& series : record.values)
      if (normalised_field(facts.parts().text(series.name)) == field) return series.last().value;
  return {};
}

bool is_scheduler_stamp(std::string_view text) {
  constexpr std::size_t kLength = 19;
  return text.size() >= kLength && text[4] == '-' && text[10] == 'T';
}

bool ScheduledJob::names_nodes() const {
  return std::ranges::any_of(lists, [](const HostList* list) { return !list->hosts.empty(); });
}

bool ScheduledJob::all_nodes_are_known() const {
  return names_nodes() &&
         std::ranges::all_of(lists, [](const HostList* list) { return list->whole; });
}

std::optional<std::string> ScheduledJob::only_node() const {
  if (!all_nodes_are_known()) return std::nullopt;
  const std::string* only = nullptr;
  for (const HostList* list : lists)
    for (const std::string& host : list->hosts) {
      if (only != nullptr && *only != host) return std::nullopt;
      only = &host;
    }
  return *only;
}

void ScheduledJobs::read_lists(const PartFacts& facts, ScheduledJob& job) {
  for (const PartRecord* record : job.records) {
    const HostList& list = lists_.of(value_in(facts, *record, {"nodelist"}));
    if (!list.hosts.empty() || !list.whole) job.lists.push_back(&list);
  }
  std::ranges::sort(job.lists);
  job.lists.erase(std::ranges::unique(job.lists).begin(), job.lists.end());
}

void ScheduledJobs::read(const PartFacts& facts) {
  std::map<std::string, ScheduledJob, ByNumber> by_number;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "job") continue;
    ScheduledJob& job = by_number[job_number(record.name("job"))];
    job.name = job_number(record.name("job"));
    job.records.push_back(&record);
    if (!record.name("step").empty()) continue;
    if (job.start.empty()) job.start = value_in(facts, record, {"start", "starttime"});
    if (job.end.empty()) job.end = value_in(facts, record, {"end", "endtime"});
    const std::string state = value_in(facts, record, {"state", "jobstate"});
    job.completed |= state == "COMPLETED";
  }
  for (auto& [number, job] : by_number) {
    settle_ending(facts, job);
    all_.push_back(std::move(job));
  }
  // Only so many hosts are read of all lists: first of the jobs that matter, the latest first.
  for (const bool completed : {false, true})
    for (ScheduledJob& job : all_ | std::views::reverse)
      if (job.completed == completed) read_lists(facts, job);
}

ScheduledJobs::ScheduledJobs(const PartFacts& facts, const std::set<std::string>& gone) {
  read(facts);
  const std::set<std::string>& of_ranks = facts.view.hosts;
  ranks_are_known_ = !of_ranks.empty();
  for (const std::string& host : gone)
    if (of_ranks.empty() || of_ranks.contains(host)) gone_of_ranks_.push_back(host);
  for (const ScheduledJob& job : all_) {
    show_where_any_ran_ |= job.completed || job.names_nodes();
    if (job.is_of_unknown_nodes()) {
      if (lost_a_node(job)) lost_somewhere_.push_back(&job);
      if (may_run(job)) running_somewhere_.push_back(&job);
    }
    for (const HostList* list : job.lists) {
      OnList& on = on_[list];
      on.one_ended |= job.ending.has_value();
      if (may_run(job)) on.may_run.push_back(&job);
    }
  }
  keep_last(lost_somewhere_, kMostOfUnknownNodes);
  keep_last(running_somewhere_, kMostOfUnknownNodes);
  for (auto& [list, on] : on_) {
    keep_last(on.may_run, kMostOfAList);
    for (const std::string& host : list->hosts) {
      lists_with_[host].push_back(list);
      on.has_ranks |= of_ranks.contains(host);
      if (gone.contains(host)) on.gone.push_back(host);
    }
  }
}

bool ScheduledJobs::any_ended_on(const std::string& host) const {
  const auto known = lists_with_.find(host);
  return known != lists_with_.end() &&
         std::ranges::any_of(known->second,
                             [&](const HostList* list) { return on_.at(list).one_ended; });
}

const ScheduledJob* ScheduledJobs::running_at(const std::string& host,
                                              const std::string& booted) const {
  const ScheduledJob* first = nullptr;
  const auto look = [&](const std::vector<const ScheduledJob*>& jobs) {
    for (const ScheduledJob* job : jobs)
      if (ran_at(*job, booted) && (first == nullptr || job < first)) first = job;
  };
  look(running_somewhere_);
  if (const auto known = lists_with_.find(host); known != lists_with_.end())
    for (const HostList* list : known->second) look(on_.at(list).may_run);
  return first;
}

bool ScheduledJobs::ran_elsewhere(const ScheduledJob& job) const {
  return ranks_are_known_ && job.all_nodes_are_known() &&
         std::ranges::none_of(job.lists,
                              [&](const HostList* list) { return on_.at(list).has_ranks; });
}

std::vector<std::string> ScheduledJobs::nodes_lost_by(const ScheduledJob& job, Room& room) const {
  if (!lost_a_node(job)) return {};
  if (job.is_of_unknown_nodes()) {
    const bool may_be = std::ranges::binary_search(lost_somewhere_, &job);
    return may_be && room.take(gone_of_ranks_.size()) ? gone_of_ranks_ : std::vector<std::string>();
  }
  std::size_t most = 0;
  for (const HostList* list : job.lists) most += on_.at(list).gone.size();
  if (!room.take(most)) return {};
  std::set<std::string> lost;
  for (const HostList* list : job.lists)
    lost.insert(on_.at(list).gone.begin(), on_.at(list).gone.end());
  if (const auto only = job.only_node(); lost.empty() && only) lost.insert(*only);
  return {lost.begin(), lost.end()};
}

}  // namespace faultline
