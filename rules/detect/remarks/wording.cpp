#include "rules/detect/remarks/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/detect/torch/word_of_end.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/placeholders.h"
#include "rules/knowledge/prose.h"
#include "rules/knowledge/subjects.h"
#include "rules/picture/read/swallowed_errors.h"

namespace faultline {
namespace {

const Worker* only_worker(const View& view, const Sighting& sighting) {
  return sighting.workers.size() == 1 ? &view.workers.all[sighting.workers.front()] : nullptr;
}

int rank_that_said(const View& view, const Sighting& sighting) {
  const Worker* worker = only_worker(view, sighting);
  return worker != nullptr && worker->rank >= 0 ? worker->rank : sighting.process->launcher_rank;
}

AdviceSubject about(const View& view, const Sighting& sighting) {
  AdviceSubject subject{.host = sighting.host, .gpu = {}, .rank = std::nullopt};
  if (const Worker* worker = only_worker(view, sighting)) subject.gpu = worker->gpu;
  if (const int rank = rank_that_said(view, sighting); rank >= 0) subject.rank = rank;
  subject.fields = sighting.fields;
  return subject;
}

// The words for a name that is not known.
std::string unnamed(std::string_view placeholder, int rank) {
  if (placeholder == "rank") return "unknown";
  if (placeholder == "host")
    return rank >= 0 ? fmt::format("the host of rank {}", rank) : host_in_words({});
  if (placeholder == "gpu") return "unknown";
  if (placeholder == "device") return "a NIC";
  if (placeholder == "peer") return "a peer";
  return "?";
}

std::string known(const View& view, const Sighting& sighting, std::string_view placeholder,
                  std::string_view peer) {
  const AdviceSubject subject = about(view, sighting);
  if (placeholder == "rank" && subject.rank) return std::to_string(*subject.rank);
  if (placeholder == "host") return subject.host;
  if (placeholder == "gpu") return subject.gpu;
  if (placeholder == "peer" && !peer.empty()) return std::string(peer);
  return std::string(sighting.field(placeholder));
}

// A name at the beginning of a title stays as it is; words in its place get a capital letter.
std::string unnamed_at(const std::string& title, std::string_view placeholder, int rank) {
  std::string words = unnamed(placeholder, rank);
  if (title.empty()) begin_with_a_capital(words);
  return words;
}

}  // namespace

std::string title_of(const View& view, const Sighting& sighting, std::string_view peer) {
  std::string title;
  take_apart(
      sighting.signature->title, [&](std::string_view plain) { title += plain; },
      [&](std::string_view name) {
        const std::string value = known(view, sighting, name, peer);
        title += value.empty() ? unnamed_at(title, name, rank_that_said(view, sighting)) : value;
      });
  return title;
}

std::string speaker_of(const View& view, const Sighting& sighting) {
  const int rank = rank_that_said(view, sighting);
  const std::int64_t pid = sighting.process->process.pid;
  std::string who = rank >= 0  ? fmt::format("rank {}", rank)
                    : pid != 0 ? fmt::format("process {}", pid)
                               : std::string("one process");
  return sighting.host.empty() ? who : fmt::format("{} on {}", who, sighting.host);
}

Subject speakers_of(const View& view, const SightingList& said) {
  Subject subject;
  for (const Sighting* sighting : said) {
    Subject one;
    if (!sighting->host.empty()) one.hosts = {sighting->host};
    if (const int rank = rank_that_said(view, *sighting); rank >= 0) one.ranks = {rank};
    for (std::size_t index : sighting->workers) {
      const Worker& worker = view.workers.all[index];
      if (worker.rank >= 0 && sighting->workers.size() == 1) one.ranks = {worker.rank};
      if (!worker.gpu.empty()) one.gpus.push_back(gpu_name(worker.host, worker.gpu));
    }
    append(subject, one);
  }
  tidy(subject);
  return subject;
}

std::string nic_of(const View& view, const Sighting& sighting) {
  std::string device(sighting.field("device"));
  if (device.empty()) return {};
  if (const std::string_view port = sighting.field("port"); !port.empty())
    device += fmt::format(":{}", port);
  if (device.find(':') == std::string::npos) {
    // Some lines name no port; if the device has only one, that one is meant.
    std::vector<std::string> ports;
    for (const std::string& nic : view.job.addresses().devices_of(sighting.process->process))
      if (nic.starts_with(device + ':')) ports.push_back(nic);
    if (ports.size() == 1) device = ports.front();
  }
  return gpu_name(sighting.host, device);
}

namespace {

bool stands_before(const LineRef& a, const LineRef& b) {
  return a.source == b.source && a.line < b.line;
}

// Whether the process did this step after its start and before this line, and did not start again.
bool has_trained_before(const View& view, const LineRef& step, const Sighting& sighting) {
  if (!stands_before(step, sighting.said->first)) return false;
  bool had_begun = false;
  for (const std::size_t index : view.members) {
    const Member& member = view.member(index);
    if (member.process != sighting.process->process || !member.init) continue;
    if (!stands_before(member.init_line, step)) return false;
    had_begun |= member.complete && member.init->nranks > 1;
  }
  return had_begun;
}

// A process that trained before it could not connect had been connected: it is not the start that
// failed, but the network since then.
Cause cause_now(const View& view, const SightingList& said) {
  const Cause cause = said.front()->signature->cause;
  if (cause != Cause::launch_connect_failed) return cause;
  const LineRef* step = last_step(view);
  const bool all_have_trained =
      step != nullptr && std::ranges::all_of(said, [&](const Sighting* sighting) {
        return has_trained_before(view, *step, *sighting);
      });
  return all_have_trained ? Cause::network_transport_error : cause;
}

}  // namespace

Suspicion suspicion_of(const View& view, const SightingList& said) {
  const Sighting& first = *said.front();
  const MessageSignature& signature = *first.signature;
  Suspicion suspicion;
  suspicion.since = first.time();
  Finding& finding = suspicion.finding;
  finding.cause = cause_now(view, said);
  finding.title = title_of(view, first);
  finding.severity = signature.severity;
  finding.count = 0;
  std::set<const RemarkingProcess*> speakers;
  bool swallowed = false;
  for (const Sighting* sighting : said) {
    finding.count += sighting->said->count;
    swallowed |= is_swallowed(view, *sighting);
    if (auto time = sighting->said->last.time.wall())
      finding.last_seen = std::max(finding.last_seen.value_or(*time), *time);
    if (speakers.insert(sighting->process).second && finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(sighting->said->first));
  }
  // Further lines of a process, once the first line of each process is shown.
  for (const Sighting* sighting : said) {
    Evidence line = view.evidence(sighting->said->first);
    if (finding.evidence.size() < kMostLines &&
        std::ranges::find(finding.evidence, line) == finding.evidence.end())
      finding.evidence.push_back(std::move(line));
  }
  suspicion.sure = {Claim::signature, signature.confidence};
  if (speakers.size() > 1) suspicion.sure.add(Ground::several_speakers);
  if (view.workers.all.empty() &&
      std::ranges::all_of(said, [](const Sighting* sighting) { return sighting->is_bare(); }))
    suspicion.sure.add(Ground::job_unseen);
  // An error that names no cause still counts if nothing else is known.
  suspicion.stops_job = is(finding.cause, Trait::symptom) && finding.severity >= Severity::error;
  suspicion.verdict = swallowed ? Verdict::hang : Verdict::failed;
  suspicion.tells_verdict = true;
  if (finding.severity == Severity::info) suspicion.verdict = Verdict::healthy;
  if (finding.severity == Severity::warning) suspicion.verdict = Verdict::slow;
  for (const Action& action : signature.actions)
    finding.actions.push_back(fill_in(action, about(view, first)));
  return suspicion;
}

}  // namespace faultline
