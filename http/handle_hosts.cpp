// GET /api/v1/hosts, /api/v1/hosts/{host}
#include <fmt/format.h>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"
#include "service/counter_history.h"
#include "service/host_story.h"
#include "service/offences.h"

namespace faultline {
namespace json = boost::json;
namespace {

constexpr std::size_t kMostJobsListed = 20;  // in the list of hosts
constexpr std::size_t kMostFindings = 100;
constexpr Severity kSeverities[] = {Severity::critical, Severity::error, Severity::warning,
                                    Severity::info};

// Every host and its jobs, the jobs that were last active first.
class AllHosts {
 public:
  explicit AllHosts(Services& services) : jobs_(services.jobs.hosts()) {
    std::ranges::stable_sort(
        jobs_, [](const auto& a, const auto& b) { return a.last_activity > b.last_activity; });
    for (const LiveJobs::JobOnHosts& job : jobs_)
      for (const auto& [host, view] : *job.hosts) by_host_[host].push_back({&job, &view});
    for (std::string& host : services.store.hosts_with_findings()) by_host_[std::move(host)];
  }

  const std::vector<LiveJobs::JobOnHosts>& jobs() const { return jobs_; }

  const std::vector<HostInJob>* find(const std::string& host) const {
    const auto known = by_host_.find(host);
    return known == by_host_.end() ? nullptr : &known->second;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    names.reserve(by_host_.size());
    for (const auto& [host, jobs] : by_host_) names.push_back(host);
    std::ranges::sort(names);
    return names;
  }

 private:
  std::vector<LiveJobs::JobOnHosts> jobs_;
  std::unordered_map<std::string, std::vector<HostInJob>> by_host_;
};

json::value or_null(std::optional<Timestamp> time) {
  return time ? json::value(to_rfc3339(*time)) : json::value(nullptr);
}

json::value or_null(std::string_view text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value name_of(Severity severity) {
  return json::value(boost::describe::enum_to_string(severity, ""));
}

json::object counts_of(const std::array<std::uint64_t, 4>& counts) {
  json::object object;
  for (const Severity severity : kSeverities)
    object[boost::describe::enum_to_string(severity, "")] =
        counts[static_cast<std::size_t>(severity)];
  return object;
}

json::object json_of(const HostTally& tally) {
  return {{"open", counts_of(tally.open)}, {"total", counts_of(tally.total)}};
}

json::array json_of(const std::vector<HostInJob>& jobs, std::size_t most) {
  json::array array;
  for (const HostInJob& in : jobs) {
    if (array.size() == most) break;
    array.push_back(
        json::object{{"job", in.job->job}, {"last_activity", or_null(in.job->last_activity)}});
  }
  return array;
}

json::value json_of(const std::optional<Repeat>& repeat) {
  if (!repeat) return nullptr;
  return json::object{{"jobs", repeat->jobs},
                      {"days", repeat->days},
                      {"classes", json::value_from(repeat->causes)},
                      {"first", to_rfc3339(repeat->first)},
                      {"last", to_rfc3339(repeat->last)},
                      {"text", repeat->text}};
}

json::object failure_of(const StoredFinding& stored) {
  const Finding& finding = stored.finding;
  return {{"job", stored.job},
          {"attempt", stored.attempt},
          {"class", name_of(finding.cause)},
          {"title", finding.title},
          {"confidence", finding.confidence},
          {"time", to_rfc3339(time_of(stored))},
          {"finding", finding.id}};
}

json::object json_of(const CounterSeries& series, const CounterHistory& history) {
  const auto reading = [](const CounterReading& of) {
    return json::object{{"value", of.value}, {"time", or_null(of.time)}};
  };
  json::object object{{"counter", series.counter},
                      {"tool", series.tool},
                      {"class", or_null(name_of(series.cause))},
                      {"link", or_null(series.link)},
                      {"first", reading(history.first)},
                      {"last", reading(history.last)},
                      {"delta", history.delta},
                      {"at_least", history.at_least},
                      {"cleared", history.cleared},
                      {"rate_per_hour", nullptr}};
  if (history.rate_per_hour)
    object["rate_per_hour"] = std::round(*history.rate_per_hour * 100) / 100;
  return object;
}

// Only counters that moved.
template <class Seen>
json::array counters_of(const std::vector<const Seen*>& seen) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>,
           std::vector<const CounterSeries*>>
      by_counter;
  for (const Seen* part : seen)
    for (const CounterSeries& series : part->counters)
      by_counter[{series.counter, series.tool, series.link}].push_back(&series);
  json::array counters;
  for (const auto& [counter, by_job] : by_counter) {
    const auto history = history_of(by_job);
    if (history && (history->delta > 0 || history->cleared))
      counters.push_back(json_of(*by_job.front(), *history));
  }
  return counters;
}

json::array json_of(const std::vector<GpuStory>& gpus) {
  json::array array;
  for (const GpuStory& gpu : gpus) {
    json::array failures;
    for (const Offence* offence : gpu.failures) failures.push_back(failure_of(offence->stored));
    array.push_back(json::object{{"gpu", or_null(gpu.gpu)},
                                 {"uuid", or_null(gpu.uuid)},
                                 {"serial", or_null(gpu.serial)},
                                 {"failures", std::move(failures)},
                                 {"repeat", json_of(gpu.repeat)},
                                 {"counters", counters_of(gpu.seen)}});
  }
  return array;
}

// What a part was blamed for, once for each event, the oldest first.
struct Failures {
  explicit Failures(std::string_view part, std::vector<const Offence*> offences) {
    keep_first_of_each_event(offences);
    std::ranges::stable_sort(offences, {},
                             [](const Offence* offence) { return time_of(offence->stored); });
    std::vector<Failure> all;
    for (const Offence* offence : offences) {
      listed.push_back(failure_of(offence->stored));
      all.push_back({offence->stored.job, offence->stored.finding.cause, time_of(offence->stored)});
    }
    repeat = json_of(repeat_of(part, all));
  }

  json::array listed;
  json::value repeat;
};

// By port; the empty name has those of the host itself.
using OtherOffences = std::map<std::string, std::vector<const Offence*>>;

json::array ports_of(const std::string& host, const std::vector<HostInJob>& jobs,
                     const OtherOffences& offences) {
  std::map<std::string, std::vector<const HostPort*>> by_port;
  // The oldest job first, so that readings of later jobs come after it.
  for (auto in = jobs.rbegin(); in != jobs.rend(); ++in)
    for (const HostPort& port : in->view->ports) by_port[port.port].push_back(&port);
  for (const auto& [port, failed] : offences)
    if (!port.empty()) by_port[port];
  json::array array;
  for (const auto& [name, seen] : by_port) {
    const auto told = [&reports = seen](std::string HostPort::* member) {
      for (auto port = reports.rbegin(); port != reports.rend(); ++port)
        if (!((*port)->*member).empty()) return json::value((*port)->*member);
      return json::value(nullptr);
    };
    const auto failed = offences.find(name);
    Failures failures(fmt::format("port {} on {}", name, host),
                      failed == offences.end() ? std::vector<const Offence*>() : failed->second);
    array.push_back(json::object{{"port", name},
                                 {"device", told(&HostPort::device)},
                                 {"netdev", told(&HostPort::netdev)},
                                 {"pci", told(&HostPort::pci)},
                                 {"guid", told(&HostPort::guid)},
                                 {"failures", std::move(failures.listed)},
                                 {"repeat", std::move(failures.repeat)},
                                 {"counters", counters_of(seen)}});
  }
  return array;
}

json::object json_of(const EventInJob& in) {
  const HostEvent& event = *in.event;
  json::object object{{"time", or_null(event.first)},
                      {"last_time", or_null(event.last)},
                      {"kind", event.kind},
                      {"class", or_null(name_of(event.cause))},
                      {"severity", nullptr},
                      {"code", nullptr},
                      {"signature", or_null(event.signature)},
                      {"part", or_null(event.part)},
                      {"count", event.count},
                      {"job", *in.job},
                      {"source", event.source},
                      {"line", event.line},
                      {"offset", event.offset},
                      {"text", event.text}};
  if (event.severity) object["severity"] = name_of(*event.severity);
  if (event.code) object["code"] = *event.code;
  return object;
}

json::object json_of(const HostFinding& found) {
  const Finding& finding = found.stored.finding;
  return {{"finding", finding.id},
          {"job", found.stored.job},
          {"attempt", found.stored.attempt},
          {"class", name_of(finding.cause)},
          {"title", finding.title},
          {"severity", name_of(finding.severity)},
          {"confidence", finding.confidence},
          {"gpus", json::value_from(finding.subject.gpus)},
          {"nics", json::value_from(finding.subject.nics)},
          {"blamed", found.blamed},
          {"part_of_job", finding.part_of_job},
          {"first_seen", or_null(finding.first_seen)},
          {"last_seen", or_null(finding.last_seen)},
          {"opened", to_rfc3339(found.stored.opened)},
          {"resolved", or_null(found.stored.resolved)}};
}

using Offences = std::map<std::string, std::vector<const Offence*>, std::less<>>;

Offences by_host(const std::vector<Offence>& offences) {
  Offences by_host;
  for (const Offence& offence : offences) by_host[offence.host].push_back(&offence);
  return by_host;
}

std::optional<Timestamp> last_event(const std::vector<HostInJob>& jobs) {
  std::optional<Timestamp> last;
  for (const HostInJob& in : jobs)
    for (const HostEvent& event : in.view->events) last = std::max(last, event.last);
  return last;
}

json::object row_of(const std::string& host, const std::vector<HostInJob>& jobs,
                    const std::vector<const Offence*>& offences, const HostTally& tally) {
  json::array gpus;
  for (const GpuStory& gpu : gpus_of_host(host, jobs, offences)) {
    if (gpu.failures.empty()) continue;
    std::set<std::string_view> failed;
    for (const Offence* offence : gpu.failures) failed.insert(offence->stored.job);
    gpus.push_back(json::object{{"gpu", or_null(gpu.gpu)},
                                {"uuid", or_null(gpu.uuid)},
                                {"serial", or_null(gpu.serial)},
                                {"failed_jobs", failed.size()},
                                {"repeat", json_of(gpu.repeat)}});
  }
  return {{"host", host},
          {"jobs", json_of(jobs, kMostJobsListed)},
          {"job_count", jobs.size()},
          {"finding_counts", json_of(tally)},
          {"gpus", std::move(gpus)},
          {"last_event", or_null(last_event(jobs))}};
}

// "gpu-node-3/0000:3b:00.0" means the GPU of this host only.
bool has_gpu(const std::string& host, const std::vector<HostInJob>& jobs, std::string_view gpu) {
  if (const std::size_t slash = gpu.find('/'); slash != std::string_view::npos) {
    if (gpu.substr(0, slash) != host) return false;
    gpu.remove_prefix(slash + 1);
  }
  const std::vector<GpuStory> gpus = gpus_of_host(host, jobs, {});
  return std::ranges::any_of(gpus, [&](const GpuStory& story) { return story.is_called(gpu); });
}

bool takes_part(const std::vector<HostInJob>& jobs, std::string_view job) {
  return std::ranges::any_of(jobs, [&](const HostInJob& in) { return in.job->job == job; });
}

}  // namespace

Response list_hosts(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return problem_response(page.error());
  if (auto refusal = still_reading(services)) return *std::move(refusal);
  const AllHosts all(services);
  const auto job = request.query.text("job");
  const auto gpu = request.query.text("gpu");
  if (job && std::ranges::find(all.jobs(), *job, &LiveJobs::JobOnHosts::job) == all.jobs().end())
    return no_such_job(*job);
  std::vector<std::string> shown;
  std::string next;
  for (const std::string& host : all.names()) {
    if (!page->after.empty() && host <= page->after) continue;
    const std::vector<HostInJob>& jobs = *all.find(host);
    if ((job && !takes_part(jobs, *job)) || (gpu && !has_gpu(host, jobs, *gpu))) continue;
    if (shown.size() == page->limit) {
      next = shown.back();
      break;
    }
    shown.push_back(host);
  }
  auto tallies = services.store.tallies(shown);
  const std::vector<Offence> offences = services.store.gpu_offences(shown);
  Offences offences_of = by_host(offences);
  json::array rows;
  for (const std::string& host : shown)
    rows.push_back(row_of(host, *all.find(host), offences_of[host], tallies[host]));
  return page_of("hosts", std::move(rows), next);
}

Response show_host(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return problem_response(page.error());
  if (auto refusal = still_reading(services)) return *std::move(refusal);
  const AllHosts all(services);
  const std::string& host = request.path_value("host");
  const std::vector<HostInJob>* jobs = all.find(host);
  if (jobs == nullptr)
    return problem_response(
        Error{Error::Kind::not_found,
              fmt::format("no host is named \"{}\"; /api/v1/hosts lists those there are",
                          printable_name(host))});
  const std::vector<EventInJob> events = events_of_host(*jobs);
  std::size_t first = 0;
  if (!page->after.empty()) {
    const auto after = page_after(events, page->after);
    if (!after)
      return problem_response(Error{Error::Kind::invalid_input,
                                    "cursor is not of this list; pass its own next_cursor"});
    first = *after;
  }
  const std::size_t last = std::min(events.size(), first + page->limit);
  json::array rows;
  for (std::size_t i = first; i < last; ++i) rows.push_back(json_of(events[i]));
  json::array findings;
  for (const HostFinding& found : services.store.findings_of_host(host, kMostFindings))
    findings.push_back(json_of(found));
  const std::vector<Offence> offences = services.store.gpu_offences({host});
  const std::vector<Offence> others = services.store.other_offences({host});
  OtherOffences of_part;
  for (const Offence& offence : others) of_part[offence.part].push_back(&offence);
  Failures of_host(fmt::format("host {}", host), of_part[""]);
  const HostTally tally = services.store.tallies({host})[host];
  json::object answer{{"host", host},
                      {"jobs", json_of(*jobs, jobs->size())},
                      {"finding_counts", json_of(tally)},
                      {"findings", std::move(findings)},
                      {"gpus", json_of(gpus_of_host(host, *jobs, by_host(offences)[host]))},
                      {"ports", ports_of(host, *jobs, of_part)},
                      {"failures", std::move(of_host.listed)},
                      {"repeat", std::move(of_host.repeat)},
                      {"events", std::move(rows)},
                      {"next_cursor", nullptr}};
  if (last < events.size()) answer["next_cursor"] = cursor_for(place_of(events[last - 1]));
  return Response::json(answer);
}

}  // namespace faultline
