#include "alerts/alert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <tuple>

#include "model/handover.h"

namespace faultline {
namespace {

constexpr std::size_t kSummaryBytes = 120;
constexpr std::size_t kDescriptionBytes = 4000;
constexpr std::size_t kLineBytes = 300;
constexpr std::size_t kMostLines = 3;
constexpr std::size_t kMostNames = 16;

// A label names one part or none: with a list, each new part would make another alert.
void add_label(Alert& alert, const char* name, const std::vector<std::string>& parts,
               const std::vector<std::string>& hosts) {
  if (parts.size() != 1) return;
  std::string part = parts.front();
  // The host has a label of its own.
  if (hosts.size() == 1 && part.starts_with(hosts.front() + "/"))
    part.erase(0, hosts.front().size() + 1);
  alert.labels[name] = std::move(part);
}

template <class T>
void add_list(Alert& alert, const char* name, const std::vector<T>& parts) {
  if (parts.size() < 2) return;
  const std::vector<T> some(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(parts.size(), kMostNames)));
  std::string text = fmt::format("{}", fmt::join(some, ", "));
  if (parts.size() > some.size()) text += fmt::format(" and {} more", parts.size() - some.size());
  alert.annotations[name] = std::move(text);
}

std::string text_of(const Action& step) {
  std::string text = step.what;
  if (!step.where.empty()) text += fmt::format(" (on {})", step.where);
  if (!step.command.empty()) text += fmt::format(" [{}]", step.command);
  return text;
}

std::string description_of(const StoredFinding& stored) {
  const Finding& finding = stored.finding;
  std::string text = fmt::format("{}. Confidence {:.2f}.", finding.title, finding.confidence);
  for (const Action& action : finding.actions) {
    text += fmt::format("\n- {}", action.what);
    if (!action.command.empty()) text += fmt::format(" [{}]", action.command);
  }
  std::size_t lines = 0;
  for (const Evidence& line : finding.evidence) {
    if (lines++ == kMostLines) break;
    text += fmt::format("\n{}:{}: {}", line.source, line.line, cut(line.text, kLineBytes));
  }
  return cut(std::move(text), kDescriptionBytes);
}

}  // namespace

Alert alert_of(const OutboxRow& row, const ServerAddress& server) {
  const StoredFinding& stored = row.finding;
  const Finding& finding = stored.finding;
  const Subject& subject = finding.subject;
  Alert alert{.firing = row.firing,
              .starts = row.began,
              .ends = row.since,
              .severity = row.severity,
              .role = row.role,
              .confidence = finding.confidence};
  alert.labels = {{"alertname", std::string(name_of(finding.cause))},
                  {"severity", boost::describe::enum_to_string(row.severity, "")},
                  {"job", stored.job},
                  {"incident", row.incident},
                  {"role", boost::describe::enum_to_string(row.role, "")},
                  {"finding", finding.id}};
  if (subject.hosts.size() == 1) alert.labels["host"] = subject.hosts.front();
  add_label(alert, "gpu", subject.gpus, subject.hosts);
  add_label(alert, "nic", subject.nics, subject.hosts);
  if (subject.ranks.size() == 1) alert.labels["rank"] = std::to_string(subject.ranks.front());
  std::erase_if(alert.labels, [](const auto& label) { return label.second.empty(); });

  const std::string job = percent_encoded(stored.job);
  const std::string diagnosis = fmt::format("{}/api/v1/jobs/{}/diagnosis?format=text&attempt={}",
                                            server.url, job, stored.attempt);
  alert.generator_url = fmt::format("{}/findings/{}", server.url, percent_encoded(finding.id));
  alert.annotations = {{"summary", cut_at_word(finding.title, kSummaryBytes)},
                       {"since", to_rfc3339(finding.first_seen.value_or(row.began))},
                       {"next_step", text_of(next_step_of(finding))},
                       {"acknowledge", acknowledge_command(server, finding.id)},
                       {"description", description_of(stored)},
                       {"confidence", fmt::format("{:.2f}", finding.confidence)},
                       {"attempt", std::to_string(stored.attempt)},
                       {"runbook_url", diagnosis},
                       {"dashboard", fmt::format("{}/jobs/{}", server.url, job)}};
  add_list(alert, "hosts", subject.hosts);
  add_list(alert, "gpus", subject.gpus);
  add_list(alert, "nics", subject.nics);
  add_list(alert, "ranks", subject.ranks);
  if (!row.firing && !stored.reason.empty()) alert.annotations["reason"] = stored.reason;
  std::erase_if(alert.annotations, [](const auto& note) { return note.second.empty(); });
  return alert;
}

std::vector<Alert> alerts_of(const std::vector<OutboxRow>& rows, const ServerAddress& server) {
  std::vector<Alert> alerts;
  alerts.reserve(rows.size());
  for (const OutboxRow& row : rows) alerts.push_back(alert_of(row, server));
  std::ranges::stable_sort(alerts, {}, [](const Alert& alert) {
    return std::make_tuple(!alert.firing, static_cast<int>(alert.role), -alert.confidence,
                           -static_cast<int>(alert.severity));
  });
  return alerts;
}

}  // namespace faultline
