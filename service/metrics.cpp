#include "service/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline {
namespace {

// Why requests are refused, so that alerts and people need not know the statuses. A 404 is not a
// refusal: it is an answer.
struct Refusal {
  unsigned status;
  std::string_view reason;
};
constexpr Refusal kRefusals[] = {
    {400, "bad_request"},      {401, "no_token"},        {403, "not_allowed"},
    {405, "method"},           {406, "not_acceptable"},  {408, "timeout"},
    {409, "conflict"},         {413, "too_large"},       {414, "url_too_long"},
    {415, "encoding"},         {421, "host_name"},       {429, "rate"},
    {431, "header_too_large"}, {501, "not_implemented"}, {503, "unavailable"},
    {505, "http_version"},
};

}  // namespace

void DurationHistogram::observe(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  ++counts_[bucket];
  nanoseconds_ += static_cast<std::uint64_t>(duration.count());
}

void DurationHistogram::write(Exposition& out, Labels labels) const {
  std::uint64_t so_far = 0;
  labels.emplace_back("le", "");
  for (std::size_t i = 0; i <= kBounds.size(); ++i) {
    so_far += counts_[i];
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    labels.back().second = bound;
    out.sample(labels, so_far, "_bucket");
  }
  labels.pop_back();
  out.sample(labels, static_cast<double>(nanoseconds_) / 1e9, "_sum");
  out.sample(labels, so_far, "_count");
}

void Metrics::count_request(std::string_view route, std::string_view method, unsigned status,
                            std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  RouteTally& tally = routes_.try_emplace(std::string(route)).first->second;
  ++tally.by_method_and_class[{std::string(method), fmt::format("{}xx", status / 100)}];
  tally.duration.observe(duration);
  const auto is_of = [&](const Refusal& refusal) { return refusal.status == status; };
  if (std::ranges::any_of(kRefusals, is_of)) ++refused_[status];
}

void Metrics::count_batch(const Batch& batch, std::size_t kept_lines) {
  kept_lines_ += kept_lines;
  bytes_ += batch.to_offset - batch.from_offset;
  lines_ += batch.lines;
  recognized_ += batch.recognized;
  skipped_ += batch.skipped;
  facts_ += batch.facts();
  // An agent that reads logs itself could make up names without end.
  constexpr std::size_t kMostDialects = 256;
  const std::lock_guard lock(mutex_);
  for (const auto& [dialect, lines] : batch.dialects) {
    const bool is_told = dialects_.size() < kMostDialects || dialects_.contains(dialect);
    dialects_[is_told ? dialect : "others"] += lines;
  }
}

void Metrics::count_commit(std::chrono::nanoseconds duration, bool failed) {
  commit_duration_.observe(duration);
  if (failed) ++failed_commits_;
}

void Metrics::note_handler(std::chrono::nanoseconds duration) {
  std::chrono::nanoseconds longest = longest_handler_;
  while (duration > longest && !longest_handler_.compare_exchange_weak(longest, duration)) {
  }
}

void Metrics::write(Exposition& out) const {
  write_requests(out);
  write_refusals(out);
  write_ingest(out);
  write_syslog(out);
  write_retention(out);
  out.family("faultline_io_longest_seconds", "gauge",
             "Most processor time that one handler took on a thread of sockets since the start.");
  out.sample({}, std::chrono::duration<double>(longest_handler_.load()).count());
  out.family("faultline_connections", "gauge", "Open connections.");
  out.sample({}, connections_.load());
  out.family("faultline_connections_refused_total", "counter",
             "Connections refused because too many were open.");
  out.sample({}, refused_connections_.load());
  if (certificate_expires_ == 0) return;
  out.family("faultline_tls_refused_total", "counter",
             "Connections that TLS ended: no client certificate, a wrong one, or no TLS at all.");
  out.sample({}, refused_tls_.load());
  out.family("faultline_tls_certificate_expires_timestamp_seconds", "gauge",
             "When the server's certificate expires.");
  out.sample({}, static_cast<std::uint64_t>(std::max<std::int64_t>(0, certificate_expires_)));
}

void Metrics::write_requests(Exposition& out) const {
  const std::lock_guard lock(mutex_);
  out.family("faultline_http_requests_total", "counter",
             "Requests answered, by route, method and class of status.");
  for (const auto& [route, tally] : routes_)
    for (const auto& [key, count] : tally.by_method_and_class)
      out.sample({{"route", route}, {"method", key.first}, {"status", key.second}}, count);
  out.family("faultline_http_request_duration_seconds", "histogram",
             "From a request's header to its answer; uploads include their whole body.");
  for (const auto& [route, tally] : routes_) tally.duration.write(out, {{"route", route}});
}

// Also writes reasons that never occurred: a counter that begins at 1 shows no increase.
void Metrics::write_refusals(Exposition& out) const {
  const std::lock_guard lock(mutex_);
  out.family("faultline_http_requests_refused_total", "counter", "Requests refused, by reason.");
  for (const Refusal& refusal : kRefusals) {
    const auto counted = refused_.find(refusal.status);
    out.sample({{"reason", refusal.reason}}, counted == refused_.end() ? 0 : counted->second);
  }
}

void Metrics::write_ingest(Exposition& out) const {
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out.family(name, "counter", help);
    out.sample({}, value);
  };
  counter("faultline_ingest_bytes_total", "Bytes of logs made durable, as decompressed.", bytes_);
  counter("faultline_ingest_duplicate_bytes_total", "Bytes sent that were held already.",
          duplicate_bytes_);
  counter("faultline_ingest_lines_total", "Lines made durable.", lines_);
  counter("faultline_ingest_recognized_lines_total", "Lines of a known form.", recognized_);
  counter("faultline_ingest_skipped_lines_total", "Lines that are too long or binary.", skipped_);
  counter("faultline_ingest_facts_total", "Events and calls read from lines.", facts_);
  counter("faultline_ingest_kept_lines_bytes_total",
          "Bytes of lines stored to be read again, before compression.", kept_lines_);
  {
    const std::lock_guard lock(mutex_);
    out.family("faultline_ingest_dialect_lines_total", "counter", "Recognized lines by dialect.");
    for (const auto& [dialect, lines] : dialects_) out.sample({{"dialect", dialect}}, lines);
  }
  out.family("faultline_commit_duration_seconds", "histogram",
             "From handing a batch to the store until it is on the disk.");
  commit_duration_.write(out);
  counter("faultline_commit_failures_total", "Batches the store refused.", failed_commits_);
  out.family("faultline_fold_duration_seconds", "histogram",
             "From a batch being on the disk until it is part of its job's state.");
  fold_duration_.write(out);
  out.family("faultline_diagnosis_duration_seconds", "histogram",
             "Time to compute the diagnosis of a job.");
  diagnosis_duration_.write(out);
}

void Metrics::write_syslog(Exposition& out) const {
  out.family("faultline_syslog_connections", "gauge", "Open connections of syslog.");
  out.sample({}, syslog_connections_.load());
  out.family("faultline_syslog_connections_refused_total", "counter",
             "Connections of syslog that were closed: too many, or no syslog.");
  out.sample({{"reason", "too_many"}}, syslog_too_many_.load());
  out.sample({{"reason", "no_syslog"}}, no_syslog_.load());
  out.family("faultline_syslog_messages_total", "counter", "Messages that came by syslog.");
  out.sample({{"over", "tcp"}}, syslog_messages_.load());
  out.sample({{"over", "udp"}}, syslog_datagrams_.load());
  out.family("faultline_syslog_cut_total", "counter",
             "Messages that came by syslog and were longer than the limit.");
  out.sample({}, syslog_cut_.load());
  out.family("faultline_syslog_lost_total", "counter",
             "Messages that came by syslog and are not stored.");
  const auto lost = [&](std::string_view reason, SyslogLoss why) {
    out.sample({{"reason", reason}}, lost_syslog(why));
  };
  lost("flood", SyslogLoss::flood);
  lost("kernel", SyslogLoss::kernel);
  lost("refused", SyslogLoss::refused);
  lost("shutdown", SyslogLoss::shutdown);
}

void Metrics::write_retention(Exposition& out) const {
  out.family("faultline_store_shortened_total", "counter",
             "Times that a job's calls were replaced by a summary, or events dropped that no "
             "answer needs.");
  out.sample({}, shortened_jobs_.load());
  out.family("faultline_jobs_rested_for_memory_total", "counter",
             "Times that a job was unloaded because all jobs together took too much memory.");
  out.sample({}, rested_for_memory_.load());
  out.family("faultline_jobs_forgotten_total", "counter",
             "Jobs deleted because of their age or to make room.");
  out.sample({{"for", "age"}}, forgotten_for_age_.load());
  out.sample({{"for", "room"}}, forgotten_for_room_.load());
  out.family("faultline_findings_forgotten_total", "counter",
             "Findings deleted because of their age.");
  out.sample({}, forgotten_findings_.load());
}

}  // namespace faultline
