#include "rules/story/witnesses.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rules/story/three_clocks.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kLinesShownFirst = 2;  // of each witness

using Names = std::vector<std::string>;

template <class Name>
bool holds(const std::vector<Name>& all, const std::vector<Name>& some) {
  return std::ranges::all_of(
      some, [&](const auto& name) { return std::ranges::find(all, name) != all.end(); });
}

// Who names none leaves open which.
template <class Name>
bool may_be_of_one(const std::vector<Name>& a, const std::vector<Name>& b) {
  return a.empty() || b.empty() || holds(a, b) || holds(b, a);
}

// A host suffers one thing of a kind, by whatever lines its kernel tells of it; what else there is
// may have struck two of its parts.
bool may_tell_of_one(const Candidate& one, const Candidate& other) {
  return one.detector != other.detector || one.finding().cause.starts_with("host.");
}

bool tell_of_one(const Candidate& one, const Candidate& other) {
  const Finding& a = one.finding();
  const Finding& b = other.finding();
  return a.cause == b.cause && !one.symptom && !is_of_calls(a.cause) &&
         may_tell_of_one(one, other) && one.in_question() && other.in_question() &&
         !a.subject.hosts.empty() && !b.subject.hosts.empty() &&
         may_be_of_one(a.subject.hosts, b.subject.hosts) &&
         may_be_of_one(a.subject.ranks, b.subject.ranks) &&
         may_be_of_one(a.subject.gpus, b.subject.gpus) &&
         may_be_of_one(a.subject.nics, b.subject.nics);
}

// The fewer hosts, the closer; then whoever names a part of them.
auto closeness(const Candidate& candidate) {
  const Finding& finding = candidate.finding();
  const auto named = [](const Names& names) { return names.empty() ? SIZE_MAX : names.size(); };
  return std::make_tuple(finding.subject.hosts.size(), named(finding.subject.nics),
                         named(finding.subject.gpus), -finding.confidence);
}

// Whoever reads only a few lines sees some of each witness, the surer one's first.
std::vector<Evidence> lines_of_both(std::vector<Evidence> surer, std::vector<Evidence> other) {
  std::vector<Evidence> lines;
  const auto take = [&](std::vector<Evidence>& from, std::size_t most) {
    for (std::size_t taken = 0; !from.empty() && taken < most && lines.size() < kMostLines;
         ++taken) {
      if (std::ranges::find(lines, from.front()) == lines.end()) lines.push_back(from.front());
      from.erase(from.begin());
    }
  };
  take(surer, kLinesShownFirst);
  take(other, kLinesShownFirst);
  take(surer, kMostLines);
  take(other, kMostLines);
  return lines;
}

template <class Name>
void add_all(std::vector<Name>& to, const std::vector<Name>& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::ranges::sort(to);
  const auto repeated = std::ranges::unique(to);
  to.erase(repeated.begin(), repeated.end());
}

void join(Candidate& into, Candidate&& other) {
  Finding& finding = into.finding();
  Finding& again = other.finding();
  finding.evidence = finding.confidence >= again.confidence
                         ? lines_of_both(std::move(finding.evidence), std::move(again.evidence))
                         : lines_of_both(std::move(again.evidence), std::move(finding.evidence));
  // Ranks of more hosts than the part at fault has are those that told of it.
  if (finding.subject.hosts == again.subject.hosts) {
    add_all(finding.subject.ranks, again.subject.ranks);
    add_all(finding.subject.gpus, again.subject.gpus);
    add_all(finding.subject.nics, again.subject.nics);
  }
  finding.count += again.count;
  count_again(into.suspicion, other.suspicion);
  into.borne_out |= into.detector != other.detector;
}

}  // namespace

void join_witnesses(std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t k = i + 1; k < candidates.size();) {
      if (!tell_of_one(candidates[i], candidates[k])) {
        ++k;
        continue;
      }
      if (closeness(candidates[k]) < closeness(candidates[i]))
        std::swap(candidates[i], candidates[k]);
      join(candidates[i], std::move(candidates[k]));
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

}  // namespace faultline
