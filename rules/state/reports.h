// Reports: what tools said about the job's ranks. The last few reports of ncclras are kept, because
// a rank that does not move between two of them is stuck. Of other tools, the last state of each
// rank is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"

namespace faultline {

// Names as the tool has them: ncclras identifies a process by address and pid.
struct ReportedProcess {
  std::string host;
  std::int64_t pid = 0;
  int cuda_device = -1;
  std::string state;  // as in RankReport
  LineRef line;
};

struct ReportedRank {
  ReportedProcess process;
  std::string error;
  LineRef error_line;
  struct Count {
    std::uint64_t count = 0;
    LineRef line;
  };
  std::map<std::string, Count> counts;  // by operation
};

struct ReportedCommunicator {
  int nranks = 0;
  int missing = 0;
  std::string status;
  std::string errors;
  LineRef line;
  std::map<int, ReportedRank> ranks;
  // "15 ranks have launched up to operation 468": some of these ranks may also be named.
  struct Crowd {
    std::string operation;
    std::uint64_t count = 0;
    int ranks = 0;
    LineRef line;
  };
  std::vector<Crowd> crowds;
};

// One report of ncclras about the whole job.
struct JobReport {
  std::uint32_t source = 0;
  bool names_all = false;
  std::optional<Timestamp> time;
  int largest = 0;  // ranks of the largest communicator
  int seen = 0;     // ranks of that communicator that answered
  std::map<std::string, ReportedCommunicator> communicators;  // by id; only those that are named
  std::vector<ReportedProcess> processes;  // processes that are named without a rank
  std::size_t entries = 0;                 // number of ranks that are kept
};

// Completed operations, by NCCL's Inspector.
struct InspectedCommunicator {
  int nranks = 0;
  std::map<int, ReportedRank> ranks;
};

// What the proxy of a process waited for at the time of its dump.
struct ProxyWaits {
  std::uint32_t source = 0;
  std::string host;
  int rank = -1;  // in the job, if the sender or a launcher says it
  int gpu = 0;
  int network = 0;
  LineRef gpu_line;
  LineRef network_line;
};

class Reports {
 public:
  void apply(std::uint32_t source, const Batch& batch, const Event& event);

  // The last report of ncclras, and the one before. nullptr: there is none.
  const JobReport* latest() const { return from_last(0); }
  const JobReport* before() const { return from_last(1); }

  // The last event of ncclras's monitor for each process.
  using Processes = std::map<std::pair<std::string, std::int64_t>, ReportedProcess>;
  const Processes& monitored() const { return monitored_; }

  const std::map<std::string, InspectedCommunicator>& inspected() const { return inspected_; }
  const std::map<std::uint32_t, ProxyWaits>& proxies() const { return proxies_; }

 private:
  const JobReport* from_last(std::size_t back) const;
  JobReport& report_of(std::uint32_t source);
  void open(std::uint32_t source, const ReportOpened& opened);
  void add(const RankReport& said, const LineRef& line, JobReport& report);
  void add(const CommunicatorReport& said, const LineRef& line, JobReport& report);
  void add_inspected(const RankReport& said, const LineRef& line);
  void add(std::uint32_t source, const Speaker& speaker, const ProxyOperation& operation,
           const LineRef& line);

  std::deque<JobReport> reports_;  // in the order in which they began
  Processes monitored_;
  std::map<std::string, InspectedCommunicator> inspected_;
  std::size_t inspected_ranks_ = 0;
  std::map<std::uint32_t, ProxyWaits> proxies_;
};

}  // namespace faultline
