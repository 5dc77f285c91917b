// GET /metrics
#include "alerts/prometheus.h"
#include "http/handlers.h"

namespace faultline {
namespace {

void write_service(Exposition& out, Services& services) {
  const auto gauge = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out.family(name, "gauge", help);
    out.sample({}, value);
  };
  gauge("faultline_ready", "1 once stored jobs are known.", services.jobs.ready() ? 1 : 0);
  gauge("faultline_jobs", "Jobs known.", services.jobs.count());
  gauge("faultline_jobs_in_memory", "Jobs that are not on the disk only.",
        services.jobs.count_in_memory());
  gauge("faultline_jobs_set_aside",
        "Jobs that are not judged, because not all that was stored of "
        "them can be read back.",
        services.jobs.count_set_aside());
  gauge("faultline_streams_open", "Sources being received.", services.jobs.open_sources().count());
  gauge("faultline_commits_pending", "Batches on their way to the disk.", services.store.pending());
  gauge("faultline_store_bytes", "Size of the store on disk.", services.store.bytes_on_disk());
  out.family("faultline_build_info", "gauge", "1, with the version as its label.");
  out.sample({{"version", services.version}}, std::uint64_t{1});
  out.family("process_start_time_seconds", "gauge", "When the process started, since 1970.");
  out.sample({}, std::chrono::duration<double>(services.started.time_since_epoch()).count());
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
