// The picture of a job at a moment: what every detector needs, worked out once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/catalog.h"
#include "rules/picture/calls/alignment.h"
#include "rules/picture/moment.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/when/arrival.h"
#include "rules/picture/when/phases.h"
#include "rules/picture/who/roll_call.h"
#include "rules/picture/who/standstill.h"
#include "rules/state/attempts.h"
#include "rules/state/job_state.h"
#include "rules/state/workers.h"

namespace faultline {

class TorchCrew;
struct P2pGap;
struct StandingsByStack;
class XidsByPlace;
template <class Thing>
class WorkersBy;

inline constexpr std::size_t kNoCommunicator = SIZE_MAX;

// A job at a moment, with what every detector needs worked out once.
struct View {
  // attempt: 0 for the latest.
  View(const JobState& the_job, const Catalog& the_catalog, const Moment& the_moment,
       int the_attempt = 0);
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View();

  const JobState& job;
  const Catalog& catalog;
  const Moment& moment;
  Attempts attempts;
  int attempt = 1;
  std::vector<std::size_t>
      members;  // of the attempt, process by process: indices into Progress::members()
  std::vector<Communicator> communicators;
  std::vector<std::size_t> communicator_of;  // by member; kNoCommunicator: it could not be placed
  std::vector<Alignment> alignments;         // by communicator
  std::vector<AlignedPlace> places;          // by member
  std::set<std::size_t> behind;              // workers that are behind in one of them
  Workers workers;
  std::set<std::string> hosts;        // on which workers run
  std::set<std::string> hosts_heard;  // from which a process of the attempt was heard: these, too
  std::set<std::string>
      hosts_in_a_stall;  // of communicators of several hosts, if no rank is behind
  RollCall roll;
  std::vector<Timestamp> moved;  // by communicator: when a call of its ranks last came
  double loss = 0;  // the largest share of lines that a communicator's ranks seem to lack
  bool lines_are_missing() const;
  Meanings meanings;
  Arrival arrival;
  Phases phases;
  Standstill standstill;

  // The ranks by all that names them. Worked out when it is first asked for.
  const TorchCrew& crew() const;
  // Sends and Recvs that lack an answer. Worked out in the same way.
  const std::vector<P2pGap>& p2p_gaps() const;
  // Where processes are by their stacks. Likewise.
  const StandingsByStack& stacks() const;
  // Workers and Xids by what kernel lines name. Worked out in the same way.
  const WorkersBy<std::string>& by_gpu() const;
  const WorkersBy<std::int64_t>& by_pid() const;
  const XidsByPlace& xids() const;
  // Ranks of which no line says where they ran, so that they may have run on any host: if there are
  // many, the few that are behind. Worked out in the same way.
  const std::set<int>& ranks_at_large() const;
  const Member& member(std::size_t index) const { return job.progress().members()[index]; }
  // The workers (indices into workers.all) of a process: one for each of its GPUs. `device`, as
  // NCCL prints it in front of a line, chooses among several; helper threads print 0 for any of
  // them.
  std::vector<std::size_t> workers_in(const ProcessKey& process, int device = -1) const;
  // Whether a process belongs to this attempt of the job.
  bool in_attempt(const ProcessKey& process) const;
  const Worker& worker_of(std::size_t member) const {
    return workers.all[workers.of_member[member]];
  }
  // The source of a member's calls; if it has none, of its Init line.
  std::uint32_t log_of(std::size_t member) const;
  // Whether more lines of its log may come: it is being written, or its upload broke off. If its
  // whole communicator has stopped, a log that is being written does not count as live.
  bool is_live(std::size_t member) const;
  bool is_broken_off(std::size_t member) const;
  bool is_torn(std::size_t member) const;
  bool has_stopped(std::size_t communicator) const;  // for at least stall_after
  // Whether some ranks are behind, and the log of none of them may go on.
  bool stands(const Alignment& alignment) const;
  bool got_to_work() const;  // a rank called a collective
  Evidence evidence(const LineRef& line) const;

 private:
  void learn_gpus_from_xids();

  std::vector<bool> stopped_;        // by communicator
  std::vector<bool> called_lately_;  // by worker
  // A view is one thread's.
  mutable std::unique_ptr<const TorchCrew> crew_;
  mutable std::unique_ptr<const std::vector<P2pGap>> p2p_gaps_;
  mutable std::unique_ptr<const StandingsByStack> stacks_;
  mutable std::unique_ptr<const WorkersBy<std::string>> by_gpu_;
  mutable std::unique_ptr<const WorkersBy<std::int64_t>> by_pid_;
  mutable std::unique_ptr<const XidsByPlace> xids_;
  mutable std::optional<const std::set<int>> ranks_at_large_;
};

// The line that says which GPU a rank has; nullptr: none does.
const LineRef* line_that_ties(const View& view, const Worker& worker);

// Names that all detectors use.
std::string gpu_name(const std::string& host, const std::string& gpu);  // gpu-node-3/0000:3b:00.0
Subject subject_of(const View& view, const std::vector<std::size_t>& members);
std::string people_of(const View& view,
                      const std::vector<std::size_t>& members);  // "Rank 27 on gpu-node-3"

}  // namespace faultline
