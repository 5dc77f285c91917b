// What can be sent of a host, and what it tells: evidence.yaml.
#pragma once

#include <boost/describe.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"

namespace faultline {

// When a diagnosis lacks it; evidence.yaml has them in full.
enum class Lacking { stopped, stalled, healthy };
BOOST_DESCRIBE_ENUM(Lacking, stopped, stalled, healthy)

struct HostEvidence {
  std::string what;
  std::vector<std::string> dialects;
  bool network = false;
  std::vector<Lacking> asked;
  std::string why;
  std::string command;
  std::string again;  // empty: what was sent is all there is
  std::vector<Cause> bears_out;

  bool is_told_by(std::string_view dialect) const;
  bool is_asked(Lacking when) const;
};

// The most telling first.
using EvidenceCatalog = std::vector<HostEvidence>;

}  // namespace faultline
