// The jobs that a scheduler reports: how each ended, and on which nodes it ran.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/parts/facts.h"
#include "rules/picture/who/host_list.h"

namespace faultline {

struct ScheduledJob {
  std::string name;
  std::vector<const PartRecord*> records;
  std::vector<const HostList*> lists;  // of its nodes, each once
  std::string start;
  std::string end;
  bool completed = false;  // by its own row, whatever its steps did
  std::optional<ConditionHit> ending;
  std::vector<ConditionHit> as_well;  // that say the same

  bool names_nodes() const;
  bool all_nodes_are_known() const;  // each list could be read whole, and there is one
  std::optional<std::string> only_node() const;
  bool is_of_unknown_nodes() const { return !names_nodes(); }
};

// How many hosts and ranks the findings about jobs and nodes name together: each of very many jobs
// may name very many.
class Room {
 public:
  bool take(std::size_t count) {
    if (count > left_) return false;
    left_ -= count;
    return true;
  }

 private:
  std::size_t left_ = 262'144;
};

// Slurm's time stamps are of one clock and one zone, and compare as texts do.
bool is_scheduler_stamp(std::string_view text);

class ScheduledJobs {
 public:
  // gone: nodes that the scheduler lost.
  ScheduledJobs(const PartFacts& facts, const std::set<std::string>& gone);
  ScheduledJobs(const ScheduledJobs&) = delete;  // it points into itself
  ScheduledJobs& operator=(const ScheduledJobs&) = delete;

  const std::vector<ScheduledJob>& all() const { return all_; }

  // Whether lines show of any job where it ran, or that it needs no node any more.
  bool show_where_any_ran() const { return show_where_any_ran_; }

  bool any_ended_on(const std::string& host) const;

  // The job that ran on the host when it booted, or may have; nullptr: none did.
  const ScheduledJob* running_at(const std::string& host, const std::string& booted) const;

  // Whether it ran on none of the hosts of the ranks, and so is not the job that the logs are of.
  bool ran_elsewhere(const ScheduledJob& job) const;

  // The nodes with which it may have lost its work; none if there is no room for them.
  std::vector<std::string> nodes_lost_by(const ScheduledJob& job, Room& room) const;

 private:
  struct OnList {
    std::vector<const ScheduledJob*> may_run;  // the last ones that ended badly, or not yet
    bool one_ended = false;
    bool has_ranks = false;
    std::vector<std::string> gone;
  };

  void read(const PartFacts& facts);
  void read_lists(const PartFacts& facts, ScheduledJob& job);

  HostLists lists_;
  std::vector<ScheduledJob> all_;
  std::map<const HostList*, OnList> on_;
  std::map<std::string, std::vector<const HostList*>, std::less<>> lists_with_;
  // The last of the jobs whose nodes nobody names: of many, no match with a node means anything.
  std::vector<const ScheduledJob*> lost_somewhere_;
  std::vector<const ScheduledJob*> running_somewhere_;
  std::vector<std::string>
      gone_of_ranks_;  // all that are gone, if the hosts of the ranks are unknown
  bool ranks_are_known_ = false;
  bool show_where_any_ran_ = false;
};

// The latest value of the first of these fields that the record has.
std::string value_in(const PartFacts& facts, const PartRecord& record,
                     std::initializer_list<std::string_view> fields);

}  // namespace faultline
