// Findings from nccl-tests: wrong results, and bandwidths below what such hardware reaches, what
// the same hosts reached before, what other hosts reach, or what NCCL expects.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "rules/detect/configuration/crew.h"
#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::string_view kRings = "graph rings";
constexpr std::string_view kGdrPair = "gdr_pair ";

std::vector<std::string> hosts_measured(const View& view, const PartRecord& record) {
  std::vector<std::string> hosts;
  if (!record.name("output shared").empty()) return hosts;  // may be of other hosts
  std::string_view named = record.name("hosts");
  while (!named.empty()) {
    const std::size_t comma = std::min(named.find(','), named.size());
    if (comma > 0) hosts.push_back(short_host(named.substr(0, comma)));
    named.remove_prefix(std::min(comma + 1, named.size()));
  }
  if (hosts.empty())
    if (std::string host = view.job.host_of(record.spoken_host, record.source); !host.empty())
      hosts.push_back(std::move(host));
  return hosts;
}

std::string where(const std::vector<std::string>& hosts, const PartRecord& record) {
  if (hosts.empty()) return {};
  if (hosts.size() == 1) return " on " + hosts.front();
  const std::string_view nodes = record.name("nodes");
  return fmt::format(" on {} hosts ({} ...)", nodes.empty() ? "several" : nodes, hosts.front());
}

std::string test_name(const PartRecord& record) {
  const std::string_view collective = record.name("collective");
  return collective.empty() ? std::string("nccl-tests") : std::string(collective);
}

// A test is run for the job, so the finding is part of the job, unless no rank of the job was seen
// on any of the hosts.
void lay_on_hosts(const View& view, const std::vector<std::string>& hosts, Suspicion& suspicion) {
  bool of_job = hosts.empty();
  for (const std::string& host : hosts) {
    suspicion.finding.subject.hosts.push_back(host);
    of_job |= owner_of_host(view, host).part_of_job();
  }
  if (!of_job) suspicion.finding.part_of_job = false;
  if (hosts.size() > 1) suspicion.sure.add(Ground::one_of_several_hosts);
  std::ranges::sort(suspicion.finding.subject.hosts);
}

Suspicion wrong_results(const View& view, const PartRecord& record) {
  const std::vector<std::string> hosts = hosts_measured(view, record);
  Suspicion suspicion =
      slow_suspicion(view, record, Cause::corruption_wrong_results, Claim::test_wrong_data);
  suspicion.verdict = Verdict::corrupt;
  Finding& finding = suspicion.finding;
  finding.severity = Severity::critical;
  const std::string first = text_in(view, record, "first wrong size");
  const std::string wrong = text_in(view, record, "wrong rows");
  finding.title =
      fmt::format("{} computed wrong results{}", test_name(record), where(hosts, record));
  if (!first.empty())
    finding.title +=
        fmt::format(": {} size{}, the first of {} bytes", wrong, wrong == "1" ? "" : "s", first);
  finding.actions = {
      {.what = hosts.size() > 1 ? "Run the test on each host alone, then on halves of the hosts, "
                                  "until one host or one pair of hosts remains."
                                : "Run the test on pairs of GPUs until one GPU remains.",
       .where = hosts.size() == 1 ? hosts.front() : "",
       .command = "all_reduce_perf -b 8 -e 1G -f 2 -g 2 -c 1"},
      {.what = "Check the GPUs for memory errors and the NVLinks for errors. Keep the hardware "
               "out of use until the faulty part is found.",
       .where = hosts.size() == 1 ? hosts.front() : "",
       .command = "nvidia-smi -q -d ECC,ROW_REMAPPER; nvidia-smi nvlink -e; dcgmi diag -r 3"}};
  lay_on_hosts(view, hosts, suspicion);
  return suspicion;
}

// A finding that these hosts were slow in this run of a test.
Suspicion low_bandwidth(const View& view, const PartRecord& record,
                        const std::vector<std::string>& hosts, std::string title, Claim claim) {
  Suspicion suspicion = slow_suspicion(view, record, Cause::performance_bandwidth_low, claim);
  suspicion.finding.title =
      fmt::format("{}{} {}", test_name(record), where(hosts, record), std::move(title));
  const std::string host = hosts.size() == 1 ? hosts.front() : "";
  const bool between_hosts = leading_number(record.name("nodes")).value_or(1) > 1;
  suspicion.finding.actions = {
      {.what = between_hosts ? "Run the test on each host alone. If a host is slow by itself, "
                               "its NVLinks are to blame; if none is, the network between them."
                             : "Check that all NVLinks are up and that NCCL uses them: a link may "
                               "be down, NCCL_P2P_DISABLE set, or NVLink SHARP off.",
       .where = host,
       .command = "nvidia-smi nvlink -s; nvidia-smi topo -m; env | grep NCCL_"}};
  lay_on_hosts(view, hosts, suspicion);
  return suspicion;
}

void suspect_by_reference(const View& view, const PartRecord& record, double busbw, double size,
                          std::vector<Suspicion>& found) {
  const auto nodes = leading_number(record.name("nodes"));
  const auto ranks = leading_number(record.name("ranks"));
  if (!nodes || !ranks || *nodes > 1e6 || *ranks > 1e6) return;
  const BandwidthReference* reference =
      view.catalog.performance.reference_for(record.name("gpu"), record.name("collective"),
                                             static_cast<int>(*nodes), static_cast<int>(*ranks));
  if (reference == nullptr || size < reference->from_size || busbw >= reference->low) return;
  const Claim claim = busbw < reference->expected / 2 ? Claim::test_far_low : Claim::test_low;
  found.push_back(
      low_bandwidth(view, record, hosts_measured(view, record),
                    fmt::format("reached {:.0f} GB/s of bus bandwidth with {} x {}; "
                                "{:.0f} is usual",
                                busbw, reference->ranks, record.name("gpu"), reference->expected),
                    claim));
}

// Compares the latest run with the best earlier one.
void suspect_fall(const View& view, const PartRecord& record, std::string_view quantity,
                  std::vector<Suspicion>& found) {
  const PartSeries* runs = view.job.parts().find(record, quantity);
  if (runs == nullptr || runs->samples.size() < 2) return;
  const auto latest = leading_number(runs->last().value);
  double best = 0;
  const LineRef* then = nullptr;
  for (auto run = runs->samples.begin(); run + 1 != runs->samples.end(); ++run) {
    const double reached = leading_number(run->value).value_or(0);
    if (reached <= best) continue;
    best = reached;
    then = run->line.get();
  }
  if (!latest || *latest <= 0 || *latest >= view.catalog.performance.bandwidth.falls_short * best)
    return;
  found.push_back(
      low_bandwidth(view, record, hosts_measured(view, record),
                    fmt::format("reached {:.0f} GB/s, and {:.0f} in an earlier run", *latest, best),
                    Claim::test_fell));
  add_line(view, then, found.back().finding);
}

// Large messages should reach at least the bandwidth of smaller ones.
void suspect_cliff(const View& view, const PartRecord& record, double busbw, double size,
                   std::vector<Suspicion>& found) {
  struct Fall {
    double to = 0;
    double to_size = 0;
    double from = 0;
    double from_size = 0;
  };
  const auto told = [&](std::string_view name) {
    return number_in(view, record, name).value_or(0);
  };
  Fall fall{busbw, size, told("peak busbw"), told("peak size")};
  if (fall.from_size >= size || !is_cliff(fall.to, fall.from))
    fall = {told("dip busbw"), told("dip size"), told("dip from busbw"), told("dip from size")};
  // NCCL sends smaller messages in other ways than large ones, so their bandwidths differ.
  constexpr double kLeastSize = 1 << 20;
  if (fall.to_size < kLeastSize || !is_cliff(fall.to, fall.from)) return;
  found.push_back(low_bandwidth(
      view, record, hosts_measured(view, record),
      fmt::format("fell to {:.1f} GB/s of bus bandwidth with messages of {:.0f} bytes, from {:.1f} "
                  "with {:.0f}",
                  fall.to, fall.to_size, fall.from, fall.from_size),
      Claim::test_cliff));
}

// The processes whose lines say which bandwidth NCCL expects of its rings.
class ToldRings {
 public:
  explicit ToldRings(const View& view) : view_(view) {}

  // On these hosts, in the order in which the job has them.
  std::vector<const ProcessSetup*> on(const std::vector<std::string>& hosts) {
    if (!read_) read();
    std::map<std::size_t, const ProcessSetup*> those;
    for (const std::string& host : hosts)
      if (const auto there = by_host_.find(host); there != by_host_.end())
        those.insert(there->second.begin(), there->second.end());
    std::vector<const ProcessSetup*> told;
    for (const auto& [order, process] : those) told.push_back(process);
    return told;
  }

 private:
  using InOrder = std::vector<std::pair<std::size_t, const ProcessSetup*>>;

  void read() {
    // A host has as many as GPUs, and a few times as many if the job was started again.
    constexpr std::size_t kMostOfHost = 256;
    read_ = true;
    std::size_t order = 0;
    for (const ProcessSetup& process : view_.job.setup().processes()) {
      if (view_.job.setup().answer(process, kRings) == nullptr ||
          !view_.in_attempt(process.process))
        continue;
      InOrder& there = by_host_[short_host(process.host)];
      if (there.size() < kMostOfHost) there.emplace_back(order++, &process);
    }
  }

  const View& view_;
  bool read_ = false;
  std::map<std::string, InOrder> by_host_;
};

// The first pair of a GPU and a NIC that these processes name, if GPUDirect RDMA is off for all
// pairs; else nothing.
std::optional<std::string> pair_without_gdr(const Setup& setup,
                                            const std::vector<const ProcessSetup*>& processes) {
  std::optional<std::string> pair;
  for (const ProcessSetup* process : processes)
    for (const AnswerGiven& answer : process->answers) {
      const std::string& question = setup.text(answer.question);
      if (!question.starts_with(kGdrPair)) continue;
      if (answer.later || setup.text(answer.value) != "disabled") return std::nullopt;
      if (!pair) pair = question.substr(kGdrPair.size());
    }
  return pair;
}

// Compares a run between hosts with what NCCL expects of the hardware that it found.
void suspect_by_estimate(const View& view, ToldRings& rings, const PartRecord& record, double busbw,
                         std::vector<Suspicion>& found) {
  const Setup& setup = view.job.setup();
  const std::vector<std::string> hosts = hosts_measured(view, record);
  if (hosts.size() < 2) return;
  const std::vector<const ProcessSetup*> processes = rings.on(hosts);
  if (processes.empty()) return;
  const auto expected_by = [&](const ProcessSetup* process) {
    return leading_number(*setup.answer(*process, kRings)).value_or(0);
  };
  const ProcessSetup* least = std::ranges::min(processes, {}, expected_by);
  const double expected = expected_by(least);
  if (busbw >= view.catalog.performance.bandwidth.far_below * expected) return;
  const auto pair = pair_without_gdr(setup, processes);
  Suspicion suspicion = low_bandwidth(
      view, record, hosts,
      fmt::format("reached {:.1f} GB/s of bus bandwidth; NCCL expects {:.0f} from the "
                  "hardware it found{}",
                  busbw, expected, pair ? ", and GPUDirect RDMA is off" : ""),
      Claim::test_below_estimate);
  add_setting_line(view, setup.line_of_answer(least->host, kRings, *setup.answer(*least, kRings)),
                   suspicion);
  if (pair) {
    for (const ProcessSetup* process : processes)
      add_setting_line(
          view, setup.line_of_answer(process->host, std::string(kGdrPair) + *pair, "disabled"),
          suspicion);
    auto& actions = suspicion.finding.actions;
    actions.insert(
        actions.begin(),
        {.what = fmt::format("Check how far apart {} are: if they are behind different root "
                             "ports, NCCL sends through the host's memory. Use a NIC nearer "
                             "to the GPU, or try NCCL_NET_GDR_LEVEL=PHB (SYS between sockets).",
                             *pair),
         .where = "",
         .command = "nvidia-smi topo -m"});
  }
  found.push_back(std::move(suspicion));
}

// Finds a run that is slower than any network that such hosts, or so many ranks, usually have.
void suspect_between_hosts(const View& view, const PartRecord& record, double busbw,
                           std::vector<Suspicion>& found) {
  const auto& bandwidth = view.catalog.performance.bandwidth;
  const bool many_hosts = leading_number(record.name("nodes")).value_or(1) > 1;
  auto ranks = leading_number(record.name("ranks"));
  if (!ranks) ranks = number_in(view, record, "ranks by ratio");
  std::string title;
  if (many_hosts && busbw < bandwidth.fast_hosts.low &&
      matches_any(bandwidth.fast_hosts.gpus, normalised_field(record.name("gpu"))))
    title = fmt::format(
        "reached {:.1f} GB/s of bus bandwidth between hosts with {}; their networks are "
        "usually several times as fast",
        busbw, record.name("gpu"));
  else if (ranks.value_or(0) >= bandwidth.many_ranks.from && busbw < bandwidth.many_ranks.low)
    title = fmt::format(
        "reached {:.1f} GB/s of bus bandwidth among {:.0f} ranks, less than one "
        "port of 50 Gb/s carries",
        busbw, *ranks);
  else
    return;
  found.push_back(low_bandwidth(view, record, hosts_measured(view, record), std::move(title),
                                Claim::test_as_slow_as_sockets));
  found.back().finding.actions.front() = {
      .what =
          "Check which network NCCL chose: \"Using network Socket\" is wrong if there is a faster "
          "one.",
      .where = "",
      .command = "NCCL_DEBUG=INFO all_reduce_perf -b 1G -e 1G 2>&1 | grep -E 'Using network|NET/'"};
}

// "12.3 FAILED": the test was given a minimum and did not reach it.
void suspect_by_limit(const View& view, const PartRecord& record, std::vector<Suspicion>& found) {
  const std::string average = text_in(view, record, "average busbw");
  if (average.find("FAILED") == std::string::npos) return;
  found.push_back(low_bandwidth(view, record, hosts_measured(view, record),
                                fmt::format("reached {:.0f} GB/s on average, less than the "
                                            "minimum set for it (NCCL_TESTS_MIN_BW)",
                                            leading_number(average).value_or(0)),
                                Claim::test_below_limit));
}

// " AllReduce 100MB: 88.10 GB/s": a line of a script, for which there is no reference.
void suspect_line(const View& view, const PartRecord& record, std::vector<Suspicion>& found) {
  if (leading_number(record.name("size bytes")).value_or(0) >=
      view.catalog.performance.bandwidth.from_size)
    suspect_fall(view, record, "bandwidth", found);
}

// A run whose hosts are all known.
struct RunOfHosts {
  const PartRecord* record = nullptr;
  std::vector<std::string> hosts;
  double busbw = 0;
};

// Compares runs of the same test on several sets of equal hosts. If exactly one host is in all slow
// runs and in no other run, it is the slow one. Slow runs that share no host accuse none: they may
// all cross a narrow place in the network.
void suspect_odd_host(const View& view, const std::vector<RunOfHosts>& runs,
                      std::vector<Suspicion>& found) {
  const double best = std::ranges::max(runs, {}, &RunOfHosts::busbw).busbw;
  std::vector<const RunOfHosts*> slow;
  std::set<std::string> sound;  // hosts of the runs that are not slow
  for (const RunOfHosts& run : runs) {
    if (run.busbw < view.catalog.performance.bandwidth.falls_short * best)
      slow.push_back(&run);
    else
      sound.insert(run.hosts.begin(), run.hosts.end());
  }
  if (slow.empty()) return;
  std::vector<std::string> odd;
  for (const std::string& host : slow.front()->hosts)
    if (!sound.contains(host) && std::ranges::all_of(slow, [&](const RunOfHosts* run) {
          return std::ranges::find(run->hosts, host) != run->hosts.end();
        }))
      odd.push_back(host);
  if (odd.size() != 1) return;
  const RunOfHosts& worst = **std::ranges::min_element(slow, {}, &RunOfHosts::busbw);
  const bool alone = worst.hosts.size() == 1;
  found.push_back(low_bandwidth(
      view, *worst.record, odd,
      fmt::format("{}reached {:.0f} GB/s of bus bandwidth, and {} {:.0f}",
                  alone ? "" : "and others ", worst.busbw,
                  alone ? "other hosts" : "runs without it", best),
      runs.size() - slow.size() > 1 ? Claim::test_beside_many : Claim::test_beside_one));
  for (const RunOfHosts* run : slow)
    if (run != &worst && run->record->last != nullptr)
      add_line(view, run->record->last.get(), found.back().finding);
}

void suspect_beside_others(const View& view, std::vector<Suspicion>& found) {
  using Test = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                          std::string_view>;
  std::map<Test, std::vector<RunOfHosts>> tests;
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.tool != "nccl-tests" || record.kind != "bandwidth_test") continue;
    const auto busbw = number_in(view, record, "busbw");
    RunOfHosts run{
        .record = &record, .hosts = hosts_measured(view, record), .busbw = busbw.value_or(0)};
    const double nodes = leading_number(record.name("nodes")).value_or(0);
    const double size = leading_number(record.name("largest size")).value_or(0);
    if (run.busbw <= 0 || record.name("gpu").empty() ||
        nodes != static_cast<double>(run.hosts.size()) ||
        size < view.catalog.performance.bandwidth.from_size)
      continue;
    tests[{record.name("collective"), record.name("gpu"), record.name("ranks"),
           record.name("nodes"), record.name("largest size")}]
        .push_back(std::move(run));
  }
  std::set<std::vector<std::string>> accused;
  for (const Suspicion& suspicion : found)
    if (suspicion.finding.cause == Cause::performance_bandwidth_low)
      accused.insert(suspicion.finding.subject.hosts);
  for (const auto& [test, runs] : tests) {
    const auto is_accused = [&](const RunOfHosts& run) { return accused.contains(run.hosts); };
    if (runs.size() > 1 && std::ranges::none_of(runs, is_accused))
      suspect_odd_host(view, runs, found);
  }
}

void suspect_table(const View& view, ToldRings& rings, const PartRecord& record,
                   std::vector<Suspicion>& found) {
  const std::size_t before = found.size();
  const auto busbw = number_in(view, record, "busbw");
  const auto size = leading_number(record.name("largest size"));
  if (busbw && size && *busbw > 0) {
    suspect_by_reference(view, record, *busbw, *size, found);
    if (found.size() == before && *size >= view.catalog.performance.bandwidth.from_size)
      suspect_fall(view, record, "busbw", found);
    if (found.size() == before && *size >= view.catalog.performance.bandwidth.from_size)
      suspect_by_estimate(view, rings, record, *busbw, found);
    if (found.size() == before) suspect_cliff(view, record, *busbw, *size, found);
    if (found.size() == before && *size >= view.catalog.performance.bandwidth.from_size)
      suspect_between_hosts(view, record, *busbw, found);
  }
  if (found.size() == before) suspect_by_limit(view, record, found);
}

}  // namespace

std::vector<Suspicion> suspect_bandwidth_tests(const View& view) {
  std::vector<Suspicion> found;
  ToldRings rings(view);
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.kind == "results_check") found.push_back(wrong_results(view, record));
    if (record.kind != "bandwidth_test") continue;
    if (record.tool == "nccl-tests") suspect_table(view, rings, record, found);
    if (record.tool == "bandwidth-line") suspect_line(view, record, found);
  }
  suspect_beside_others(view, found);
  return found;
}

}  // namespace faultline
