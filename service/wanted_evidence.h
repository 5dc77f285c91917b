// WantedEvidence: what agents are asked to fetch on their hosts, because it would decide a
// diagnosis, and what became of it. It is kept in memory: after a restart it is asked for anew, and
// an agent refuses what it did already.
//
// What is asked for is a kind of evidence on a host, once in an attempt of the job. It is asked for
// again, a few times and not soon, if an agent refused it or failed, or if more ranks are in doubt.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/evidence_kind.h"
#include "model/finding.h"
#include "model/time.h"
#include "service/change_signal.h"
#include "service/clock.h"

namespace faultline {

enum class EvidenceOutcome { waiting, asked, sent, failed, refused, dry_run };
BOOST_DESCRIBE_ENUM(EvidenceOutcome, waiting, asked, sent, failed, refused, dry_run)

struct EvidenceRequest {
  std::string id;  // of this asking; each has its own
  std::string job;
  std::string host;
  EvidenceKind kind{};
  std::vector<int> ranks;  // empty: of all that are on the host
  std::string why;
  EvidenceOutcome outcome = EvidenceOutcome::waiting;
  std::optional<Timestamp> asked_at;     // an agent took it
  std::optional<Timestamp> answered_at;  // it said what became of it
  std::string detail;                    // its words
  int askings = 0;                       // before this one
};

class WantedEvidence {
 public:
  // Asks for what the diagnosis of a live job lacks. What it lacks no more, and nobody took, is not
  // asked for any more.
  // `until`: later the lines are of the past, unless more come.
  void note(const Diagnosis& diagnosis, Timestamp until);
  // Of this job nothing is asked for any more; what agents took before is still told.
  void withdraw(std::string_view job);
  // The job is over, or gone.
  void forget(std::string_view job);

  // What an agent on the host is to fetch now, a few things at a time. `may_know`: of which jobs it
  // may be told.
  std::vector<EvidenceRequest> take(std::string_view host, const std::set<EvidenceKind>& kinds,
                                    const std::function<bool(std::string_view)>& may_know,
                                    Timestamp now);
  // False: nothing of this id, of a job that it may know, was asked of this host.
  bool answer(std::string_view host, std::string_view id, EvidenceOutcome outcome,
              std::string detail, const std::function<bool(std::string_view)>& may_know,
              Timestamp now);

  // What was asked of agents, in the order in which they took it.
  std::vector<EvidenceRequest> asked(std::string_view job) const;

  ChangeSignal& changes() { return changes_; }

 private:
  // A kind of evidence on a host: how it was asked for last, and what is wished for now.
  struct Wish {
    EvidenceRequest request;
    bool is_wished = true;
    std::vector<int> ranks;
    bool takes(Timestamp now) const;
    bool is_at_work(Timestamp now) const;
  };
  struct OfJob {
    int attempt = 0;
    Timestamp until{};
    // By the short name of the host, the most perishable first.
    std::map<std::string, std::vector<Wish>, std::less<>> of_host;
    std::size_t count = 0;    // of all hosts
    std::uint64_t noted = 0;  // when, by count
    int ras_reports = 0;
    std::optional<Timestamp> last_ras_report;
    bool wants_ras(Timestamp now) const;
  };

  static void drop_unwished(OfJob& job);
  void make_room();

  mutable std::mutex mutex_;
  std::map<std::string, OfJob, std::less<>> jobs_;
  std::uint64_t notes_ = 0;
  ChangeSignal changes_;
};

}  // namespace faultline
