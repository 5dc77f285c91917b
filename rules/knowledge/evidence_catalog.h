// The kinds of evidence that a host can give, and what each shows: evidence.yaml.
#pragma once

#include <boost/describe.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"
#include "model/evidence_kind.h"

namespace faultline {

// In which situation a diagnosis asks for it; evidence.yaml explains them.
enum class Lacking { stopped, stalled, healthy };
BOOST_DESCRIBE_ENUM(Lacking, stopped, stalled, healthy)

struct HostEvidence {
  std::string what;
  std::optional<EvidenceKind> kind;  // nothing: no agent can fetch it
  std::vector<std::string> dialects;
  bool network = false;
  std::vector<Lacking> asked;
  std::string why;
  std::string command;
  std::string again;  // how to send more of it; empty: there is no more
  std::vector<Cause> bears_out;

  bool is_told_by(std::string_view dialect) const;
  bool is_asked(Lacking when) const;
};

// The most informative first.
using EvidenceCatalog = std::vector<HostEvidence>;

}  // namespace faultline
