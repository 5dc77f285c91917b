#include "rules/knowledge/machines.h"

namespace faultline {

std::vector<std::string> machines_of(const Finding& finding) {
  if (!finding.subject.hosts.empty() || finding.subject.ranks.size() > 1 ||
      finding.evidence.empty())
    return finding.subject.hosts;
  return {"of " + finding.evidence.front().source};  // no name of a host has a blank
}

}  // namespace faultline
