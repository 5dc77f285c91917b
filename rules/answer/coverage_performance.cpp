#include "rules/answer/coverage_performance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/answer/coverage_ranks.h"
#include "rules/answer/pasteable.h"
#include "rules/answer/training_progress.h"
#include "rules/detect/performance/measured.h"
#include "rules/detect/performance/training.h"

namespace faultline {
namespace {

bool finds(const std::vector<Suspicion>& found, std::initializer_list<Cause> causes) {
  return std::ranges::any_of(found, [&](const Suspicion& suspicion) {
    return suspicion.finding.part_of_job &&
           std::ranges::find(causes, suspicion.finding.cause) != causes.end();
  });
}

bool is_table(const PartRecord& record) {
  return record.tool == "nccl-tests" && record.kind == "bandwidth_test";
}

int count_named(const PartRecord& record, std::string_view name) {
  return static_cast<int>(std::clamp(leading_number(record.name(name)).value_or(0), 0.0, 1e6));
}

// A table of nccl-tests whose hardware has a reference, and whose messages are large enough for it.
bool is_compared(const View& view, const PartRecord& record) {
  const BandwidthReference* reference = view.catalog.performance.reference_for(
      record.name("gpu"), record.name("collective"), count_named(record, "nodes"),
      count_named(record, "ranks"));
  return reference != nullptr &&
         leading_number(record.name("largest size")).value_or(0) >= reference->from_size;
}

// Checks the tables of nccl-tests. Without a reference for the hardware, the answer is unknown.
void check_bandwidth(const View& view, const std::vector<Suspicion>& found,
                     std::vector<Check>& checks) {
  std::size_t tables = 0;
  std::size_t judged = 0;
  std::set<std::string> unknown;
  for (const PartRecord& record : view.job.parts().records()) {
    if (!is_table(record)) continue;
    ++tables;
    const int nodes = count_named(record, "nodes");
    const int ranks = count_named(record, "ranks");
    if (is_compared(view, record)) {
      ++judged;
      continue;
    }
    unknown.insert(
        fmt::format("{} of {} x {} on {} hosts",
                    record.name("collective").empty() ? "a test" : record.name("collective"),
                    ranks == 0 ? "?" : std::to_string(ranks),
                    record.name("gpu").empty() ? "an unknown GPU" : record.name("gpu"),
                    nodes == 0 ? "?" : std::to_string(nodes)));
  }
  if (tables == 0) return;
  Check bandwidth{.check = "expected bandwidth", .status = CheckStatus::unknown};
  if (finds(found, {Cause::performance_bandwidth_low}))
    bandwidth.status = CheckStatus::fail;
  else if (judged == tables)
    bandwidth.status = CheckStatus::pass;
  bandwidth.detail =
      fmt::format("{} of {} tests compared with what such hardware reaches", judged, tables);
  if (!unknown.empty())
    bandwidth.detail += fmt::format("; no reference, or messages too small: {}", *unknown.begin());
  if (bandwidth.status == CheckStatus::unknown)
    bandwidth.command = "all_reduce_perf -b 1G -e 8G -f 2 -g 8";
  checks.push_back(std::move(bandwidth));
}

void check_results(const View& view, const std::vector<Suspicion>& found,
                   std::vector<Check>& checks) {
  std::size_t tables = 0;
  bool checked = true;
  for (const PartRecord& record : view.job.parts().records()) {
    if (!is_table(record)) continue;
    ++tables;
    checked &= text_in(view, record, "checked") == "yes";
  }
  if (tables == 0) return;
  Check results{.check = "results of nccl-tests", .status = CheckStatus::unknown};
  if (finds(found, {Cause::corruption_wrong_results}))
    results.status = CheckStatus::fail;
  else if (checked)
    results.status = CheckStatus::pass;
  else
    results.command = "all_reduce_perf -c 1";
  results.detail = checked ? "checked in every table" : "not checked in every table";
  checks.push_back(std::move(results));
}

std::set<int> profiled_ranks(const View& view) {
  std::set<int> ranks;
  for (const PartRecord& record : view.job.parts().records())
    if (record.kind == "trace") ranks.insert(profiled_rank(view, record));
  return ranks;
}

void check_profiles(const View& view, const std::vector<Suspicion>& found,
                    std::vector<Check>& checks) {
  const std::set<int> ranks = profiled_ranks(view);
  if (ranks.empty()) return;
  Check check{.check = "time of profiled ranks", .status = CheckStatus::unknown};
  if (finds(found, {Cause::software_straggler, Cause::performance_communication_bound}))
    check.status = CheckStatus::fail;
  else if (ranks.size() > 1)
    check.status = CheckStatus::pass;
  check.detail = ranks.size() > 1
                     ? fmt::format("{} ranks compared", ranks.size())
                     : "only one rank was profiled: profiles of other ranks would show "
                       "which rank it waits for";
  checks.push_back(std::move(check));
}

void check_training(const View& view, const std::vector<Suspicion>& found,
                    std::vector<Check>& checks) {
  if (!has_training(view)) return;
  Check check{.check = "progress of training", .status = CheckStatus::unknown};
  if (!found.empty())
    check.status = CheckStatus::fail;
  else if (training_ended(view))
    check.status = CheckStatus::pass;
  check.detail = training_in_words(view);
  checks.push_back(std::move(check));
}

std::string trace_of(int rank) { return fmt::format("trace_rank{}.json", rank); }

std::vector<Suspicion> suspicions_of_performance(const View& view) {
  std::vector<Suspicion> found = suspect_bandwidth_tests(view);
  std::ranges::move(suspect_profiles(view), std::back_inserter(found));
  return found;
}

}  // namespace

std::vector<Check> checks_of_performance(const View& view) {
  if (view.job.parts().records().empty()) return {};
  const std::vector<Suspicion> found = suspicions_of_performance(view);
  std::vector<Check> checks;
  check_bandwidth(view, found, checks);
  check_results(view, found, checks);
  check_profiles(view, found, checks);
  check_training(view, suspect_training(view), checks);
  return checks;
}

bool is_as_fast_as_it_should_be(const View& view) {
  const std::vector<Suspicion> found = suspicions_of_performance(view);
  std::vector<Check> checks;
  check_bandwidth(view, found, checks);
  check_profiles(view, found, checks);
  return !checks.empty() && std::ranges::all_of(checks, [](const Check& check) {
    return check.status == CheckStatus::pass;
  });
}

namespace {

bool printed_no_row(const PartRecord& record) { return record.kind == "test_without_rows"; }

// Rows that were cut out of a table have no head, so it is unknown whether the test ended.
bool stopped_below_its_head(const View& view, const PartRecord& record) {
  return is_table(record) && !record.name("ranks").empty() &&
         text_in(view, record, "ended") == "no";
}

}  // namespace

std::vector<const PartRecord*> tests_without_end(const View& view) {
  std::vector<const PartRecord*> found;
  for (const PartRecord& record : view.job.parts().records())
    if (record.tool == "nccl-tests" &&
        (printed_no_row(record) || stopped_below_its_head(view, record)))
      found.push_back(&record);
  return found;
}

std::vector<MissingEvidence> ask_for_tests(const View& view) {
  std::map<std::string, std::string> asked;  // and why
  for (const PartRecord* record : tests_without_end(view)) {
    const std::string_view collective = record->name("collective");
    const std::string_view hosts = record->name("hosts");
    asked.emplace(
        fmt::format("output of nccl-tests{}{}{}{} to its end", collective.empty() ? "" : ", ",
                    collective, hosts.empty() ? "" : " on ", hosts),
        printed_no_row(*record)
            ? "it began and printed no row: a test that hangs looks the same"
            : "its last line, \"Avg bus bandwidth\", is missing: a test that hangs looks "
              "the same");
  }
  std::vector<MissingEvidence> missing;
  for (const auto& [what, why] : asked) missing.push_back({what, why, ""});
  return missing;
}

std::vector<MissingEvidence> ask_for_profiles(const View& view, const Diagnosis& diagnosis) {
  const bool bound = !diagnosis.root_causes.empty() &&
                     diagnosis.root_causes.front().cause == Cause::performance_communication_bound;
  const bool healthy = diagnosis.root_causes.empty() && diagnosis.verdict == Verdict::healthy;
  const std::set<int> profiled = profiled_ranks(view);
  if (profiled.contains(-1) || (!bound && !healthy) || view.roll.expected < 2) return {};
  if (profiled.empty()) {
    const bool reported = std::ranges::any_of(
        view.job.parts().records(),
        [](const PartRecord& record) { return record.tool == "straggler-report"; });
    if (reported) return {};
    return {{"profile of every rank, or its times to a barrier",
             "no log shows a rank that comes late each time, or communication that no computation "
             "hides",
             "", trace_of(0), upload_query(view, "rank", "0")}};
  }
  std::vector<int> others;
  for (int rank = 0; rank < view.roll.expected; ++rank)
    if (!profiled.contains(rank)) others.push_back(rank);
  if (others.empty()) return {};
  return {{fmt::format("profile of rank {}", ranges(others)),
           "the rank that communicates least is the one the others wait for", "",
           trace_of(others.front()), upload_query(view, "rank", std::to_string(others.front()))}};
}

}  // namespace faultline
