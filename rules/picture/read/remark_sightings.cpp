#include "rules/picture/read/remark_sightings.h"

#include <algorithm>
#include <limits>
#include <set>

#include "rules/picture/read/gave_up_waiting.h"

namespace faultline {
namespace {

// Results that are no errors.
constexpr int kSuccess = 0;
constexpr int kInProgress = 7;

using WorkersOf = std::map<ProcessKey, std::vector<std::size_t>>;

WorkersOf workers_by_process(const View& view) {
  WorkersOf by_process;
  for (std::size_t i = 0; i < view.workers.all.size(); ++i)
    by_process[view.workers.all[i].process].push_back(i);
  return by_process;
}

// Processes with a communicator that was not destroyed.
std::set<ProcessKey> unfinished_processes(const View& view) {
  std::set<ProcessKey> unfinished;
  for (std::size_t index : view.members)
    if (const Member& member = view.member(index); !member.left_cleanly())
      unfinished.insert(member.process);
  return unfinished;
}

// A process that drives several GPUs prints the number of the GPU that a line is about, but its
// helper threads always print 0.
std::vector<std::size_t> speaking(const View& view, const std::vector<std::size_t>& of_process,
                                  const RemarkingProcess& process, const Speaker& speaker) {
  if (of_process.size() < 2) return of_process;
  if (speaker.device <= 0) return {};
  std::vector<std::size_t> one = view.workers_in(process.process, speaker.device);
  return one.size() == 1 ? one : std::vector<std::size_t>{};
}

bool may_lead_to(const Catalog& catalog, Cause cause, Cause effect) {
  return catalog.explains(cause, effect, Relation::same_rank) ||
         catalog.explains(cause, effect, Relation::same_host);
}

// NCCL reports a failed shared memory segment for any error within. If CUDA had failed before, the
// segment was fine.
bool wraps_another_error(const Sighting& sighting) {
  return sighting.signature->id == "nccl.shm.segment_failed";
}

// The same port came up again later.
bool recovered(const Sighting& lost, const RemarkingProcess& process) {
  if (lost.signature->cause != Cause::network_link_down) return false;
  const std::string_view device = lost.field("device");
  return std::ranges::any_of(process.said, [&](const SaidRemark& later) {
    return later.last_order > lost.said->last_order &&
           later.remark.text.find("port active") != std::string::npos &&
           (device.empty() || later.remark.text.find(device) != std::string::npos);
  });
}

// The warnings that processes printed in lines of their own, which name the process.
using Warned = std::set<std::string>;

Warned warned_in(const View& view) {
  Warned warned;
  for (const RemarkingProcess& process : view.job.remarks().processes()) {
    if (process.process.pid == 0 || !view.in_attempt(process.process)) continue;
    for (const SaidRemark& said : process.said)
      if (said.warns()) warned.insert(without_what_varies(said.remark.text));
  }
  return warned;
}

// NCCL's log, if there is one, shows better that a peer went away. An error that an exception
// quotes about its own rank or host is reported with the exception; only an error about the other
// end is reported from the quotation.
bool is_told_elsewhere(const View& view, const Sighting& seen) {
  if (seen.is_bare() && seen.signature != nullptr && !view.workers.all.empty() &&
      is(seen.signature->cause, Trait::comes_with_an_end))
    return true;
  if (seen.said->remark.place != "Last error:") return false;
  if (seen.signature == nullptr || seen.signature->weight != Weight::cause) return true;
  return seen.signature->blames == Blames::process || seen.signature->blames == Blames::host;
}

class Sorting {
 public:
  explicit Sorting(const View& view)
      : view_(view),
        workers_(workers_by_process(view)),
        unfinished_(unfinished_processes(view)),
        warned_(warned_in(view)),
        gave_up_(view, view.crew()) {
    for (const RemarkingProcess& process : view.job.remarks().processes())
      if (view.in_attempt(process.process) && !process.said.empty() && !clean(process))
        all_clean_ = false;
    all_clean_ &= unfinished_.empty();
  }

  Sightings run() {
    for (const RemarkingProcess& process : view_.job.remarks().processes())
      if (view_.in_attempt(process.process)) sort(process);
    for (std::vector<Sighting>* list :
         {&found_.causes, &found_.excused, &found_.echoes, &found_.unknown, &found_.told})
      std::ranges::stable_sort(*list, earlier);
    return std::move(found_);
  }

 private:
  bool clean(const RemarkingProcess& process) const {
    return process.ended_cleanly() && !unfinished_.contains(process.process);
  }

  Sighting sighting(const RemarkingProcess& process, const SaidRemark& said) const {
    Sighting seen{.process = &process, .said = &said};
    const auto known = workers_.find(process.process);
    if (known != workers_.end())
      seen.workers = speaking(view_, known->second, process, said.speaker);
    seen.host = process.host;
    if (seen.host.empty() && known != workers_.end())
      seen.host = view_.workers.all[known->second.front()].host;
    if (auto match = view_.catalog.signatures->match(said.remark)) {
      seen.signature = match->signature;
      seen.fields = std::move(match->fields);
    }
    return seen;
  }

  void sort(const RemarkingProcess& process) {
    const bool ended_well = clean(process);
    std::vector<Sighting> all;
    for (const SaidRemark& said : process.said) all.push_back(sighting(process, said));
    const MessageSignature* first = nullptr;
    bool warned = false;
    bool cuda_refused = false;
    for (Sighting& seen : all) {
      if (is_told_elsewhere(view_, seen) || repeats_a_line(seen)) continue;
      if (seen.signature == nullptr) {
        if (seen.said->warns() && first == nullptr && !warned && !ended_well &&
            !after_its_abort(process, seen)) {
          warned = !went_on(view_, seen);
          found_.unknown.push_back(std::move(seen));
        }
        continue;
      }
      found_.told.push_back(seen);
      cuda_refused |= seen.signature->id.starts_with("nccl.cuda.");
      if (seen.signature->weight == Weight::harmless) continue;
      if (is_echo(seen.signature->weight) || (cuda_refused && wraps_another_error(seen)) ||
          comes_too_late(process, seen, first)) {
        if (!ended_well && seen.said->warns() && !after_its_abort(process, seen))
          found_.echoes.push_back(std::move(seen));
      } else if (excused(process, seen, ended_well)) {
        found_.excused.push_back(std::move(seen));
      } else {
        if (seen.signature->severity >= Severity::error && first == nullptr &&
            !is(seen.signature->cause, Trait::symptom))
          first = seen.signature;
        found_.causes.push_back(std::move(seen));
      }
    }
  }

  // A pasted or quoted copy of a line that is here too.
  bool repeats_a_line(const Sighting& seen) const {
    return seen.is_bare() && !warned_.empty() &&
           warned_.contains(without_what_varies(seen.said->remark.text));
  }

  static bool after_its_abort(const RemarkingProcess& process, const Sighting& seen) {
    return process.endings.aborted && seen.said->order > process.endings.aborted_order;
  }

  // It follows from an earlier line of this process, or from the process's own end.
  bool comes_too_late(const RemarkingProcess& process, const Sighting& seen,
                      const MessageSignature* first) const {
    if (seen.signature->severity < Severity::error) return false;
    if (after_its_abort(process, seen)) return true;
    // Ranks that gave up waiting end and close their connections.
    if (seen.signature->cause == Cause::network_peer_lost &&
        gave_up_.any_shortly_before(seen.said->first))
      return true;
    return first != nullptr && first->cause != seen.signature->cause &&
           !is(seen.signature->cause, Trait::tells_by_itself) &&
           !may_lead_to(view_.catalog, first->cause, seen.signature->cause);
  }

  bool excused(const RemarkingProcess& process, const Sighting& seen, bool ended_well) const {
    const Cause cause = seen.signature->cause;
    if (seen.signature->severity < Severity::error) return false;
    if (all_clean_ || (ended_well && is(cause, Trait::comes_with_an_end))) return true;
    // A port that goes down does not by itself stop a job.
    return cause == Cause::network_link_down &&
           (recovered(seen, process) || went_on(view_, seen)) && !failed_after(seen) &&
           !error_after(process, seen);
  }

  bool error_after(const RemarkingProcess& process, const Sighting& seen) const {
    return std::ranges::any_of(process.said, [&](const SaidRemark& later) {
      if (later.order <= seen.said->order || &later == seen.said) return false;
      const auto match = view_.catalog.signatures->match(later.remark);
      return match && match->signature->weight != Weight::harmless &&
             match->signature->severity >= Severity::error;
    });
  }

  const View& view_;
  WorkersOf workers_;
  std::set<ProcessKey> unfinished_;
  Warned warned_;
  GaveUpWaiting gave_up_;
  bool all_clean_ = true;
  Sightings found_;
};

}  // namespace

std::string_view Sighting::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

bool Sighting::is_bare() const { return process->process.pid == 0 && said->warns(); }

Sightings sightings_of(const View& view) { return Sorting(view).run(); }

bool earlier(const Sighting& a, const Sighting& b) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  return a.time().wall_us.value_or(kNever) < b.time().wall_us.value_or(kNever);
}

bool went_on(const View& view, const Sighting& sighting) {
  const LineRef& last = sighting.said->last;
  return std::ranges::any_of(sighting.workers, [&](std::size_t worker) {
    return std::ranges::any_of(view.workers.all[worker].members, [&](std::size_t m) {
      const LineRef& call = view.member(m).last_line;
      return call.known() && call.source == last.source && call.line > last.line;
    });
  });
}

bool failed_after(const Sighting& sighting) {
  const Endings& endings = sighting.process->endings;
  if (endings.aborted && endings.aborted_order > sighting.said->order) return true;
  const auto& returned = sighting.said->returned;
  return returned && returned->code != kSuccess && returned->code != kInProgress;
}

bool somebody_is_behind(const View& view) {
  return std::ranges::any_of(view.alignments,
                             [&](const Alignment& alignment) { return view.stands(alignment); });
}

}  // namespace faultline
