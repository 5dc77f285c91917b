#include "accuracy/decisive.h"

#include <algorithm>

namespace faultline::accuracy {
namespace {

bool same(const Finding& a, const Finding& b) {
  return a.cause == b.cause &&
         (a.subject.ranks == b.subject.ranks || a.subject.hosts == b.subject.hosts);
}

double confidence_in(const Diagnosis& diagnosis, const Finding& wanted) {
  double most = 0;
  for (const Finding& finding : diagnosis.root_causes)
    if (same(finding, wanted)) most = std::max(most, finding.confidence);
  return most;
}

// Asked for by the host's name, or by the rank's.
bool asks_for(const Diagnosis& diagnosis, const Finding& cause, const std::string& source) {
  const std::string host = source.substr(0, source.find('/'));
  return std::ranges::any_of(diagnosis.missing_evidence, [&](const MissingEvidence& missing) {
    if (missing.what.find(host) != std::string::npos ||
        missing.command.find(host) != std::string::npos)
      return true;
    if (source.find("nccl") == std::string::npos) return false;
    return missing.what.find("NCCL log") != std::string::npos &&
           (cause.subject.ranks.empty() || missing.what.find("rank") != std::string::npos);
  });
}

}  // namespace

WithoutDecisive without_decisive(const Doctor& doctor, const Files& files,
                                 const Diagnosis& diagnosis) {
  WithoutDecisive result;
  if (diagnosis.root_causes.empty()) return result;
  const Finding& cause = diagnosis.root_causes.front();
  if (cause.evidence.empty() || !files.contains(cause.evidence.front().source)) return result;
  result.source = cause.evidence.front().source;
  Files rest = files;
  rest.erase(result.source);
  const Diagnosis without = doctor.diagnose(rest);
  result.less_sure = confidence_in(without, cause) < cause.confidence;
  result.asked_for = asks_for(without, cause, result.source);
  return result;
}

}  // namespace faultline::accuracy
