#include "alerts/routing.h"

#include <algorithm>

namespace faultline {
namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return matches(pattern, text);
         });
}

bool wants(const Receiver& receiver, const AlertSubject& subject) {
  if (subject.role == Role::observation) return false;
  if (subject.role == Role::symptom && !receiver.symptoms) return false;
  const Finding& finding = subject.finding;
  // An alert that was sent stays until its finding ends, or it would come and go with the
  // confidence.
  if (!subject.told &&
      (finding.confidence < receiver.min_confidence || subject.opened < receiver.not_before))
    return false;
  if (finding.severity < receiver.min_severity ||
      !any_matches(receiver.classes, name_of(finding.cause)) ||
      !any_matches(receiver.jobs, subject.job))
    return false;
  return receiver.hosts.empty() ||
         std::ranges::any_of(finding.subject.hosts, [&](const std::string& host) {
           return any_matches(receiver.hosts, host);
         });
}

// The end of the quiet time that contains the moment; the moment itself if none does.
Timestamp after_quiet(const std::vector<QuietTime>& quiet, Timestamp moment) {
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  for (const QuietTime& time : quiet) {
    const bool over_midnight = time.to <= time.from;
    for (const int shift : {-1, 0}) {
      const auto begins = day + std::chrono::days(shift) + time.from;
      const auto ends = day + std::chrono::days(shift + (over_midnight ? 1 : 0)) + time.to;
      if (begins <= moment && moment < ends) return ends;
    }
  }
  return moment;
}

Timestamp due(const Receiver& receiver, const AlertSubject& subject) {
  const Timestamp held = subject.now + receiver.hold;
  return subject.finding.severity >= receiver.quiet_below ? held
                                                          : after_quiet(receiver.quiet, held);
}

std::string group_of(const Receiver& receiver, const AlertSubject& subject) {
  switch (receiver.group_by) {
    case GroupBy::incident:
      return std::string(subject.incident);
    case GroupBy::finding:
      return subject.finding.id;
    case GroupBy::job:
      return std::string(subject.job);
  }
  return {};
}

}  // namespace

Receiver default_receiver(ReceiverType type) {
  Receiver receiver{.type = type};
  if (type == ReceiverType::alertmanager) {
    // Alertmanager groups alerts and holds symptoms back by its own rules.
    receiver.symptoms = true;
    receiver.min_severity = Severity::warning;
    receiver.group_wait = receiver.group_interval = std::chrono::milliseconds{0};
  }
  if (type == ReceiverType::pagerduty) {
    receiver.url = "https://events.pagerduty.com/v2/enqueue";
    receiver.retry_max = std::chrono::minutes{5};
  }
  return receiver;
}

bool matches(std::string_view pattern, std::string_view text) {
  // The last star, and the end of the text that it matches so far: only the last star need be
  // tried again.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  std::size_t p = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<Delivery> route(const std::vector<Receiver>& receivers, const AlertSubject& subject) {
  std::vector<Delivery> deliveries;
  for (const Receiver& receiver : receivers)
    if (wants(receiver, subject))
      deliveries.push_back({.receiver = receiver.name,
                            .group = group_of(receiver, subject),
                            .due = due(receiver, subject)});
  return deliveries;
}

}  // namespace faultline
