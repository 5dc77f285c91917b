// WantedEvidence: what agents are asked to fetch on their hosts, because it would decide a
// diagnosis, and what became of it. It is kept in memory: after a restart it is asked for anew, and
// an agent refuses what it did already.
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
  std::string id;
  std::string job;
  std::string host;
  EvidenceKind kind{};
  std::vector<int> ranks;  // empty: of all that are on the host
  std::string why;
  EvidenceOutcome outcome = EvidenceOutcome::waiting;
  std::optional<Timestamp> asked_at;     // an agent took it
  std::optional<Timestamp> answered_at;  // it said what became of it
  std::string detail;                    // its words
};

class WantedEvidence {
 public:
  // Asks for what the diagnosis of a live job lacks, each thing once. What it lacks no more, and
  // nobody took, is not asked for any more.
  void note(const Diagnosis& diagnosis);
  // The job is over, or gone.
  void forget(std::string_view job);

  // What an agent on the host is to fetch now. `may_know`: of which jobs it may be told.
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
  struct OfJob {
    std::map<std::string, EvidenceRequest, std::less<>> requests;  // by id
    // By the short name of the host: ids, the most perishable first.
    std::map<std::string, std::vector<std::string>> of_host;
    std::uint64_t noted = 0;  // when, by count
  };

  void make_room();

  mutable std::mutex mutex_;
  std::map<std::string, OfJob, std::less<>> jobs_;
  std::uint64_t notes_ = 0;
  ChangeSignal changes_;
};

}  // namespace faultline
