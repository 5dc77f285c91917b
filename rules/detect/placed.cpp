#include "rules/detect/placed.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "rules/detect/torch/word_of_end.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

// All ranks closed all their communicators cleanly. A single rank may also do so on its way out of
// a failure.
bool came_to_its_end(const View& view) {
  return !view.workers.all.empty() && std::ranges::all_of(view.members, [&](std::size_t member) {
    return view.member(member).left_cleanly();
  });
}

bool stops(const Suspicion& suspicion) {
  return suspicion.verdict == Verdict::failed || suspicion.verdict == Verdict::hang;
}

void only_mention(Suspicion& suspicion) {
  suspicion.verdict = Verdict::healthy;
  suspicion.stops_job = false;
  suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
}

void spare(Suspicion& suspicion) {
  if (!stops(suspicion) && suspicion.verdict != Verdict::unknown) return;
  if (!suspicion.finding.part_of_job) return;
  only_mention(suspicion);
  suspicion.finding.title += "; the job ended well";
}

}  // namespace

bool tells_of_a_job(const View& view) {
  return !view.job.processes().all().empty() || !view.job.torch().empty() ||
         !view.job.remarks().processes().empty() || view.job.reports().latest() != nullptr;
}

void place_in_time(const View& view, const Placed& placed, Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  suspicion.phase = placed.phase;
  if (is_of_another_time(placed.phase)) {
    finding.part_of_job = false;
    finding.title += said_of(placed.phase);
    return;
  }
  if (!finding.part_of_job) return;
  if (placed.phase == Phase::outlived && stops(suspicion)) {
    finding.title += said_of(placed.phase);
    only_mention(suspicion);
  }
  if (placed.phase != Phase::cannot_tell || placed.tied) return;
  suspicion.sure.add(stops(suspicion) && !tells_of_a_job(view) ? Ground::job_unseen
                                                               : Ground::time_open);
  if (suspicion.verdict == Verdict::healthy || view.standstill.on_host(placed.host)) return;
  finding.title += said_of(placed.phase);
  only_mention(suspicion);
}

void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions) {
  if (suspicions.empty() || !came_to_its_end(view)) return;
  for (Suspicion& suspicion : suspicions) spare(suspicion);
}

void spare_what_its_log_takes_back(const View& view, std::vector<Suspicion>& suspicions) {
  if (suspicions.empty()) return;
  std::map<std::string, std::uint64_t> ended;  // in which line of each log
  for (const LineRef* word : words_of_its_end(view, limits::takes_back)) {
    std::uint64_t& line = ended[view.evidence(*word).source];
    line = std::max(line, word->line);
  }
  if (ended.empty()) return;
  const auto is_taken_back = [&](const Evidence& line) {
    const auto end = ended.find(line.source);
    return end != ended.end() && line.line < end->second;
  };
  for (Suspicion& suspicion : suspicions)
    if (const auto& evidence = suspicion.finding.evidence;
        !evidence.empty() && std::ranges::all_of(evidence, is_taken_back))
      spare(suspicion);
}

}  // namespace faultline
