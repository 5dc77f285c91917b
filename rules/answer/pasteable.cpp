#include "rules/answer/pasteable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/handover.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPids = 16;

// Stands in the query for the name of a host: the shell fills it in.
constexpr std::string_view kAnyHost = "$(hostname)";

bool is_one_of_a_url(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string upload_url(std::string_view server, std::string_view query) {
  const char quote = query.find(kAnyHost) == std::string_view::npos ? '\'' : '"';
  return fmt::format("{0}{1}/api/v1/ingest?{2}{0}", quote, server, query);
}

// Ranks of one process share one pid.
std::vector<std::int64_t> pids_of(const View& view, const Subject& subject) {
  std::vector<std::int64_t> pids;
  std::string host;
  for (const int rank : subject.ranks) {
    const auto worker = std::ranges::lower_bound(view.workers.all, rank, {}, &Worker::rank);
    if (rank < 0 || worker == view.workers.all.end() || worker->rank != rank) return {};
    if (worker->pid <= 0 || (!host.empty() && host != worker->host)) return {};
    host = worker->host;
    if (std::ranges::find(pids, worker->pid) == pids.end()) pids.push_back(worker->pid);
    if (pids.size() > kMostPids) return {};
  }
  return pids;
}

// The command that sends a file, or what another command prints. Without a server, what is printed
// goes into a file that is named after the host.
std::string whole_command(const MissingEvidence& missing, const ServerAddress& server) {
  const bool is_file = missing.command.empty();
  if (missing.query.empty() || (is_file && server.url.empty())) return missing.command;
  const std::string curl = curl_command(server);
  if (is_file)
    return fmt::format("{} -T {} {}", curl, missing.file, upload_url(server.url, missing.query));
  const bool is_any = missing.query.find(kAnyHost) != std::string::npos;
  const bool is_one = missing.command.find(';') == std::string::npos;
  const std::string what = is_one ? missing.command : fmt::format("({})", missing.command);
  if (!server.url.empty())
    return fmt::format("{} | {} --data-binary @- {}{}", what, curl,
                       upload_url(server.url, missing.query), is_any ? "  # on each" : "");
  return fmt::format(
      "{} >{}{}", what,
      is_any ? fmt::format("\"{}-$(hostname).log\"  # on each", missing.file) : missing.file,
      is_any ? "" : ".log");
}

}  // namespace

AdviceSubject advice_subject(const View& view, const Subject& subject) {
  AdviceSubject about = advice_subject(subject);
  about.pids = pids_of(view, subject);
  return about;
}

void complete_actions(const View& view, Finding& finding) {
  const AdviceSubject about = advice_subject(view, finding.subject);
  for (Action& action : finding.actions) action = completed(action, about);
}

std::string upload_query(const View& view, std::string_view name, std::string_view value) {
  return fmt::format("job={}&{}={}", percent_encoded(view.job.name()), name,
                     percent_encoded(value));
}

std::string upload_query_of_any_host(const View& view) {
  return fmt::format("job={}&host={}", percent_encoded(view.job.name()), kAnyHost);
}

Diagnosis addressed(Diagnosis diagnosis, ServerAddress server) {
  diagnosis.server = is_server(server.url) ? std::move(server) : ServerAddress();
  for (MissingEvidence& missing : diagnosis.missing_evidence)
    missing.command = whole_command(missing, diagnosis.server);
  return diagnosis;
}

bool is_server(std::string_view url) {
  const std::string_view scheme = url.starts_with("https://") ? "https://" : "http://";
  if (!url.starts_with(scheme)) return false;
  url.remove_prefix(scheme.size());
  return !url.empty() && std::ranges::all_of(url, [](unsigned char c) {
    return is_one_of_a_url(c) || c == ':' || c == '[' || c == ']';
  });
}

}  // namespace faultline
