#include "rules/story/precedence.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "rules/knowledge/machines.h"

namespace faultline {
namespace {

bool share_a_host(const Finding& a, const Finding& b) {
  std::vector<std::string> others = machines_of(b);
  std::ranges::sort(others);
  return std::ranges::any_of(machines_of(a), [&](const std::string& host) {
    return std::ranges::binary_search(others, host);
  });
}

using FirstLines = std::map<std::string_view, std::uint64_t>;

FirstLines first_lines(const Finding& finding) {
  FirstLines lines;
  for (const Evidence& evidence : finding.evidence) {
    const auto [known, is_new] = lines.emplace(evidence.source, evidence.line);
    if (!is_new) known->second = std::min(known->second, evidence.line);
  }
  return lines;
}

// By line numbers in sources that both have. If sources disagree, the order is not known.
Order order_of_places(const Finding& a, const Finding& b) {
  bool before = false;
  bool after = false;
  const FirstLines others = first_lines(b);
  for (const auto& [source, line] : first_lines(a)) {
    const auto other = others.find(source);
    if (other == others.end()) continue;
    before |= line < other->second;
    after |= line > other->second;
  }
  if (before == after) return Order::cannot_tell;
  return before ? Order::before : Order::after;
}

}  // namespace

std::tuple<int, std::size_t, std::size_t> closeness(const Subject& subject) {
  const int kind = !subject.gpus.empty() || !subject.nics.empty() ? 0
                   : !subject.ranks.empty()                       ? 1
                   : !subject.hosts.empty()                       ? 2
                                                                  : 3;
  return {kind, subject.hosts.size(), subject.ranks.size()};
}

bool named_before(const Finding& a, const Finding& b) {
  const auto key = [](const Finding& finding) {
    const Subject& subject = finding.subject;
    return std::tie(subject.hosts, subject.ranks, subject.gpus, subject.nics,
                    subject.communicators);
  };
  return a.cause != b.cause ? a.cause < b.cause : key(a) < key(b);
}

Order told_order(const Candidate& a, const Candidate& b) {
  if (is(a.finding().cause, Trait::absence) || is(b.finding().cause, Trait::absence))
    return Order::cannot_tell;
  const bool same_host = share_a_host(a.finding(), b.finding());
  const Order by_clock = order_of(a.suspicion.since, b.suspicion.since, same_host);
  return by_clock != Order::cannot_tell ? by_clock : order_of_places(a.finding(), b.finding());
}

bool begins_before(const Candidate& a, const Candidate& b) {
  if (a.suspicion.reason_is_told != b.suspicion.reason_is_told) return b.suspicion.reason_is_told;
  const Order told = told_order(a, b);
  if (told != Order::cannot_tell) return told == Order::before;
  if (a.symptom != b.symptom) return b.symptom;
  const auto close_a = closeness(a.finding().subject);
  const auto close_b = closeness(b.finding().subject);
  return close_a != close_b ? close_a < close_b : named_before(a.finding(), b.finding());
}

}  // namespace faultline
