// GET /metrics
#include <filesystem>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include "alerts/prometheus.h"
#include "http/handlers.h"
#include "service/process_use.h"

namespace faultline {
namespace {

void write_gauge(Exposition& out, std::string_view name, std::string_view help,
                 std::uint64_t value) {
  out.family(name, "gauge", help);
  out.sample({}, value);
}

void write_jobs(Exposition& out, LiveJobs& jobs) {
  write_gauge(out, "faultline_ready", "1 once stored jobs are known.", jobs.ready() ? 1 : 0);
  write_gauge(out, "faultline_jobs", "Jobs known.", jobs.count());
  out.family("faultline_jobs_by_verdict", "gauge", "Jobs by last verdict.");
  std::map<Verdict, std::size_t> counts = jobs.count_by_verdict();
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Verdict>>([&](auto verdict) {
    out.sample({{"verdict", verdict.name}}, std::uint64_t{counts[verdict.value]});
  });
  write_gauge(out, "faultline_jobs_in_memory", "Jobs in memory.", jobs.count_in_memory());
  write_gauge(out, "faultline_jobs_unread", "Stored jobs that were not read since the start.",
              jobs.count_unread());
  write_gauge(
      out, "faultline_jobs_set_aside",
      "Jobs that are not judged: stored data cannot be read back, or there is too much of it.",
      jobs.count_set_aside());
  write_gauge(out, "faultline_jobs_lacking_memory",
              "Large jobs that wait because all jobs together take too much memory.",
              jobs.count_lacking_memory());
}

void write_store(Exposition& out, Services& services) {
  write_gauge(out, "faultline_streams_open", "Sources being received.",
              services.jobs.open_sources().count());
  write_gauge(out, "faultline_event_streams_open", "Clients that listen for changes of findings.",
              services.changes.count());
  write_gauge(out, "faultline_commits_pending", "Batches on their way to the disk.",
              services.store.pending());
  write_gauge(out, "faultline_commits_in_flight",
              "Batches that are not part of their job's state yet.",
              services.jobs.commits_in_flight());
  write_gauge(out, "faultline_store_bytes", "Size of the store on disk.",
              services.store.bytes_on_disk());
  write_gauge(out, "faultline_store_reusable_bytes",
              "Bytes of deleted data in it, which new data takes before it grows.",
              services.store.reusable_bytes());
  std::error_code unknown;
  const std::filesystem::space_info disk = std::filesystem::space(services.data, unknown);
  if (unknown) return;
  write_gauge(out, "faultline_disk_size_bytes", "Size of the disk that the store lies on.",
              disk.capacity);
  write_gauge(out, "faultline_disk_free_bytes", "Free space on that disk.", disk.available);
  write_gauge(out, "faultline_disk_min_free_bytes",
              "No logs are taken while less is free, on the disk and in the store together.",
              services.store.least_room());
}

// Uses the names that the client libraries of Prometheus use.
void write_process(Exposition& out, const Services& services) {
  const ProcessUse use = process_use();
  out.family("process_cpu_seconds_total", "counter", "Processor time used.");
  out.sample({}, use.cpu_seconds);
  write_gauge(out, "process_resident_memory_bytes", "Memory in use.", use.resident_bytes);
  write_gauge(out, "faultline_memory_budget_bytes",
              "Memory that all jobs together may take; 0: there is no limit.",
              services.jobs.memory().most());
  write_gauge(out, "process_virtual_memory_bytes", "Virtual memory in use.", use.virtual_bytes);
  write_gauge(out, "process_open_fds", "Open files and connections.", use.open_fds);
  write_gauge(out, "process_max_fds", "Most open files and connections that the system allows.",
              use.most_fds);
  out.family("process_start_time_seconds", "gauge", "When the process started, since 1970.");
  out.sample({}, std::chrono::duration<double>(services.started.time_since_epoch()).count());
}

void write_service(Exposition& out, Services& services) {
  write_jobs(out, services.jobs);
  write_store(out, services);
  out.family("faultline_build_info", "gauge", "1, with the version as its label.");
  out.sample({{"version", services.version}}, std::uint64_t{1});
  write_process(out, services);
}

}  // namespace

Response show_metrics(const Request& request, Services& services) {
  const bool open =
      best_offer(request.header("Accept"), {"text/plain", "application/openmetrics-text"}) ==
      "application/openmetrics-text";
  Exposition out(open ? MetricsFormat::openmetrics : MetricsFormat::prometheus);
  write_service(out, services);
  services.metrics.write(out);
  write_findings(out, services.store);
  services.alerts.write(out);
  return Response::text(out.take(),
                        open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                             : "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace faultline
