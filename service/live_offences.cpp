// What other jobs suffered from on the same hosts.
#include "service/live_job.h"
#include "service/offences.h"

namespace faultline {
namespace {

// Hosts with an Xid: the past of other hosts does not matter. All hosts, if there are reports of
// another kind (switches, kernel logs, parts), or if an Xid names no host.
std::vector<std::string> hosts_with_reports(const JobState& state) {
  const std::set<std::string>& all = state.sources().hosts();
  if (!state.hardware().switch_errors().empty() || !state.kernel_lines().logs().empty() ||
      !state.parts().records().empty())
    return {all.begin(), all.end()};
  std::set<std::string> hosts;
  for (const XidIncident& incident : state.hardware().xids()) {
    std::string host = state.host_of(incident.spoken_host, incident.source);
    if (host.empty()) return {all.begin(), all.end()};
    hosts.insert(std::move(host));
  }
  return {hosts.begin(), hosts.end()};
}

constexpr std::size_t kOfOthers = std::size_t{1} << 32U;

// The parts that the store notes as offenders: the one GPU, else the ends of a link, else the one
// host.
std::vector<std::string> offenders_in(const Subject& subject) {
  if (!subject.gpus.empty())
    return subject.gpus.size() == 1 ? subject.gpus : std::vector<std::string>();
  if (!subject.nics.empty()) return subject.nics;
  return subject.hosts.size() == 1 ? subject.hosts : std::vector<std::string>();
}

std::string uuid_of(const Offence& offence, const HostViews& hosts) {
  const auto host = hosts.find(offence.host);
  if (host == hosts.end()) return {};
  for (const HostGpu& gpu : host->second.gpus)
    if (gpu.gpu == offence.part) return gpu.uuid;
  return {};
}

// Matters where a program is at fault: if it does this on every GPU that it runs on, that says
// nothing about any one GPU.
bool others_were_clean(const Offence& offence, const HostViews& hosts) {
  const Cause cause = offence.stored.finding.cause;
  if (!is_of(cause, Family::software)) return false;
  for (const auto& [host, view] : hosts)
    for (const HostEvent& event : view.events)
      if (event.cause == cause && (host != offence.host || event.part != offence.part))
        return false;
  return true;
}

}  // namespace

// Asks the store, so the job's state must not be locked.
std::vector<PastOffence> LiveJobs::past_offences(Job& job) {
  const std::lock_guard lock(job.offences_mutex);
  const std::uint64_t version = offences_version_;
  std::vector<std::string> hosts;
  std::optional<Timestamp> first_received;
  {
    const FoldedJob::Reading state = job.read();
    const std::size_t known = state->sources().hosts().size();
    // Of the other kinds of reports, only the first one changes what the store is asked.
    const std::size_t reports = state->hardware().xids().size() +
                                (state->hardware().switch_errors().empty() ? 0U : kOfOthers) +
                                (state->kernel_lines().logs().empty() ? 0U : 2 * kOfOthers) +
                                (state->parts().records().empty() ? 0U : 4 * kOfOthers);
    if (job.offences_version == version && job.offences_hosts == known &&
        job.offences_reports == reports)
      return job.offences;
    hosts = hosts_with_reports(state.state());
    job.offences_hosts = known;
    job.offences_reports = reports;
    job.offences_version = 0;  // until the store has answered
    first_received = state.first_received();
  }
  std::vector<PastOffence> offences;
  std::vector<Offence> stored_offences;
  if (!hosts.empty()) {
    stored_offences = store_.gpu_offences(hosts);
    std::ranges::move(store_.other_offences(hosts), std::back_inserter(stored_offences));
  }
  std::vector<const Offence*> of_others;
  for (const Offence& offence : stored_offences)
    if (offence.stored.job != job.name) of_others.push_back(&offence);
  keep_first_of_each_event(of_others);
  for (const Offence* offence : of_others) {
    const StoredFinding& stored = offence->stored;
    PastOffence& past = offences.emplace_back();
    past.part = offence->part.empty() ? offence->host : offence->host + "/" + offence->part;
    past.cause = stored.finding.cause;
    past.job = stored.job;
    past.when = stored.finding.last_seen ? stored.finding.last_seen : stored.finding.first_seen;
    past.found_before = first_received && stored.opened < *first_received;
    if (!stored.finding.evidence.empty()) past.evidence = stored.finding.evidence.front();
  }
  const bool is_whole = ask_other_jobs(of_others, offences);
  job.offences = std::move(offences);
  if (is_whole) job.offences_version = version;
  job.lacks_offences = !is_whole;
  return job.offences;
}

// Job by job: it costs much to learn what one that rests knows of its hosts. Returns false if one
// cannot be read now: it must not keep others from being judged.
bool LiveJobs::ask_other_jobs(const std::vector<const Offence*>& offences,
                              std::vector<PastOffence>& past) {
  std::map<std::string_view, std::vector<std::size_t>> by_job;
  for (std::size_t i = 0; i < offences.size(); ++i) by_job[offences[i]->stored.job].push_back(i);
  bool is_whole = true;
  for (const auto& [job, of_job] : by_job) try {
      const std::shared_ptr<const HostViews> hosts = hosts_of(job);
      if (!hosts) continue;
      for (const std::size_t i : of_job) {
        past[i].uuid = uuid_of(*offences[i], *hosts);
        past[i].others_were_clean = others_were_clean(*offences[i], *hosts);
      }
    } catch (const LacksMemory&) {
      is_whole = false;
    }
  return is_whole;
}

std::shared_ptr<const HostViews> LiveJobs::hosts_of(std::string_view name) {
  const std::shared_ptr<Job> job = known(name);
  return job ? hosts_of_job(*job).hosts : nullptr;
}

void LiveJobs::note_offences(Job& job, const Diagnosis& diagnosis,
                             const std::set<std::string, std::less<>>& blamed) {
  std::set<std::pair<std::string, Cause>> offended;
  for (const Finding& finding : diagnosis.root_causes)
    if (blamed.contains(finding.id))
      for (const std::string& part : offenders_in(finding.subject))
        offended.emplace(part, finding.cause);
  if (offended == job.offended) return;
  job.offended = std::move(offended);
  ++offences_version_;
}

}  // namespace faultline
