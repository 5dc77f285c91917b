#include "rules/detect/remarks/aftermath.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/detect/detector.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/knowledge/subjects.h"

namespace faultline {
namespace {

constexpr std::size_t kMostTexts = 4;    // unknown ones that came with a failure
constexpr std::size_t kMostCurious = 3;  // unknown ones that did no harm
constexpr std::size_t kMostShown = 120;  // bytes of a text in a title

void add_lines(const View& view, const SightingList& said, Finding& finding) {
  finding.count = 0;
  for (const Sighting* sighting : said) {
    finding.count += sighting->said->count;
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(sighting->said->first));
  }
}

// The class itself if it is a symptom, else that NCCL reported an error.
Cause symptom_class(Cause cause) { return is(cause, Trait::symptom) ? cause : Cause::nccl_error; }

std::vector<Suspicion> find_echoes(const View& view, const std::vector<Sighting>& echoes) {
  std::map<Cause, SightingList> by_class;
  for (const Sighting& echo : echoes)
    if (!went_on(view, echo)) by_class[symptom_class(echo.signature->cause)].push_back(&echo);
  std::vector<Suspicion> found;
  for (const auto& [cause, said] : by_class) {
    Suspicion& suspicion = found.emplace_back();
    suspicion.since = said.front()->time();
    suspicion.stops_job = true;
    suspicion.verdict = Verdict::unknown;
    Finding& finding = suspicion.finding;
    finding.cause = cause;
    finding.title = title_of(view, *said.front());
    finding.subject = speakers_of(view, said);
    if (finding.subject.ranks.size() > 1)
      finding.title += fmt::format("; {} ranks report the same", finding.subject.ranks.size());
    finding.severity = Severity::error;
    suspicion.sure = Claim::echo_of_failure;
    add_lines(view, said, finding);
  }
  return found;
}

std::string shown(const std::string& text) {
  std::string one_line = text.substr(0, std::min(text.find('\n'), kMostShown));
  // Not in the middle of a character.
  while (one_line.size() < text.size() && !one_line.empty() &&
         (static_cast<unsigned char>(one_line.back()) & 0x80) != 0)
    one_line.pop_back();
  return one_line;
}

using Texts = std::vector<std::pair<std::string, SightingList>>;

Texts by_text(const std::vector<const Sighting*>& unknown) {
  Texts texts;
  std::map<std::string, std::size_t> known;
  for (const Sighting* sighting : unknown) {
    const std::string text = without_what_varies(sighting->said->remark.text);
    const auto [at, is_new] = known.try_emplace(text, texts.size());
    if (is_new) texts.push_back({text, {}});
    texts[at->second].second.push_back(sighting);
  }
  return texts;
}

// What happened to a process after it printed a text that no signature knows.
enum class Fate {
  went_on,
  fell_silent,  // and nothing says that it failed
  failed,
};

// Whether this is the last line of its process, in a log that has ended.
bool is_last_word(const View& view, const Sighting& sighting) {
  const LineRef& last = sighting.said->last;
  const auto comes_later = [&](const LineRef& line) {
    return line.known() && (line.source != last.source || line.line > last.line);
  };
  const ProcessSeen* seen = view.job.processes().find(sighting.process->process);
  if (seen != nullptr && comes_later(seen->last)) return false;
  return std::ranges::none_of(sighting.workers, [&](std::size_t worker) {
    return std::ranges::any_of(view.workers.all[worker].members, [&](std::size_t m) {
      return view.is_live(m) || view.member(m).ending || comes_later(view.member(m).last_line) ||
             comes_later(view.member(m).init_line);
    });
  });
}

Suspicion describe_unknown(const View& view, const SightingList& said, Fate fate) {
  const bool harmed = fate == Fate::failed;
  Suspicion suspicion;
  suspicion.since = said.front()->time();
  suspicion.stops_job =
      harmed && std::ranges::any_of(said, [](const Sighting* s) { return failed_after(*s); });
  suspicion.verdict = harmed                      ? Verdict::failed
                      : fate == Fate::fell_silent ? Verdict::unknown
                                                  : Verdict::healthy;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::nccl_error;
  finding.subject = speakers_of(view, said);
  std::string who = speaker_of(view, *said.front());
  if (finding.subject.ranks.size() > 1)
    who += fmt::format(" and {} more", finding.subject.ranks.size() - 1);
  finding.title = fmt::format("NCCL warned {}: {}", who, shown(said.front()->said->remark.text));
  if (fate == Fate::fell_silent) finding.title += "; nothing comes after it";
  finding.severity = fate == Fate::went_on ? Severity::info : Severity::error;
  suspicion.sure = Claim::unknown_text;
  add_lines(view, said, finding);
  return suspicion;
}

// A warning is no failure. A warning that no signature knows counts if the job failed after it. If
// nothing comes after it, nobody can say that the job did not fail.
std::vector<Suspicion> find_unknown(const View& view, const std::vector<Sighting>& unknown) {
  const bool behind = somebody_is_behind(view);
  const auto fate_of = [&](const Sighting& sighting) {
    if (failed_after(sighting) || (behind && !went_on(view, sighting))) return Fate::failed;
    return is_last_word(view, sighting) ? Fate::fell_silent : Fate::went_on;
  };
  std::map<Fate, SightingList> by_fate;
  for (const Sighting& sighting : unknown) by_fate[fate_of(sighting)].push_back(&sighting);
  std::vector<Suspicion> found;
  for (const Fate fate : {Fate::failed, Fate::fell_silent, Fate::went_on}) {
    const Texts texts = by_text(by_fate[fate]);
    const std::size_t most = fate == Fate::went_on ? kMostCurious : kMostTexts;
    for (std::size_t i = 0; i < std::min(texts.size(), most); ++i)
      found.push_back(describe_unknown(view, texts[i].second, fate));
  }
  return found;
}

std::vector<Suspicion> find_aborted(const View& view) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::unknown;
  Finding& finding = suspicion.finding;
  finding.count = 0;
  for (const Worker& worker : view.workers.all) {
    const RemarkingProcess* process = view.job.remarks().find(worker.process);
    if (process == nullptr || !process->endings.aborted || !view.in_attempt(worker.process))
      continue;
    if (finding.count++ == 0) suspicion.since = process->endings.aborted->time;
    Subject one;
    if (worker.rank >= 0) one.ranks = {worker.rank};
    if (!worker.host.empty()) one.hosts = {worker.host};
    append(finding.subject, one);
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(*process->endings.aborted));
  }
  if (finding.count == 0) return {};
  tidy(finding.subject);
  finding.cause = Cause::process_aborted;
  finding.title = finding.subject.ranks.size() == 1
                      ? fmt::format("Rank {} aborted its communicators", finding.subject.ranks[0])
                      : fmt::format("{} aborted their communicators",
                                    counted(finding.count, "process", "processes"));
  finding.severity = Severity::error;
  suspicion.sure = Claim::aborted;
  return {suspicion};
}

}  // namespace

std::vector<Suspicion> find_aftermath(const View& view, const Sightings& sightings, bool failed) {
  std::vector<Suspicion> found = find_echoes(view, sightings.echoes);
  const std::vector<Suspicion> unknown = find_unknown(view, sightings.unknown);
  found.insert(found.end(), unknown.begin(), unknown.end());
  // Frameworks also abort communicators when all went well: an abort means something only if
  // something else failed.
  const bool trouble = failed || somebody_is_behind(view) ||
                       std::ranges::any_of(found, [](const Suspicion& s) { return s.stops_job; });
  if (trouble) {
    const std::vector<Suspicion> aborted = find_aborted(view);
    found.insert(found.end(), aborted.begin(), aborted.end());
  }
  return found;
}

}  // namespace faultline
