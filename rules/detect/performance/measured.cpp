#include "rules/detect/performance/measured.h"

#include <algorithm>
#include <charconv>

#include "rules/detect/parts/facts.h"
#include "rules/state/flight.h"

namespace faultline {

std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

std::optional<double> number_in(const View& view, const PartRecord& record, std::string_view name) {
  const PartSeries* series = view.job.parts().find(record, name);
  return series == nullptr ? std::nullopt : leading_number(series->last().value);
}

std::string text_in(const View& view, const PartRecord& record, std::string_view name) {
  const PartSeries* series = view.job.parts().find(record, name);
  return series == nullptr ? std::string() : series->last().value;
}

std::optional<Pings> pings_in(const View& view, const PartRecord& record) {
  const auto sent = number_in(view, record, "packets transmitted");
  auto received = number_in(view, record, "received");
  if (!received) received = number_in(view, record, "packets received");
  if (!sent || !received || *sent <= 0 || *received > *sent) return std::nullopt;
  return Pings{*sent, *received};
}

bool is_cliff(double reached, double best) {
  constexpr double kFraction = 0.5;
  return reached < kFraction * best;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

int rank_of(const View& view, const PartRecord& record) {
  const auto told = leading_number(record.name("rank"));
  if (told && *told >= 0 && *told < 1e7) return static_cast<int>(*told);
  return view.job.sources().at(record.source).source.rank;
}

int profiled_rank(const View& view, const PartRecord& record) {
  const int rank = rank_of(view, record);
  return rank >= 0 ? rank : rank_in_name(view.job.sources().at(record.source).source.name);
}

void lay_on_rank(const View& view, int rank, Finding& finding) {
  finding.subject.ranks.push_back(rank);
  for (const std::size_t index : view.workers.of_rank(rank)) {
    const std::string& host = view.workers.all[index].host;
    if (!host.empty() &&
        std::ranges::find(finding.subject.hosts, host) == finding.subject.hosts.end())
      finding.subject.hosts.push_back(host);
  }
}

Suspicion slow_suspicion(const View& view, const PartRecord& record, Cause cause, Claim claim) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.job_ran_with_it = true;
  suspicion.finding.cause = cause;
  suspicion.finding.severity = Severity::warning;
  suspicion.sure = claim;
  if (record.last != nullptr) {
    suspicion.since = record.last->time;
    add_line(view, record.last.get(), suspicion.finding);
  }
  return suspicion;
}

}  // namespace faultline
