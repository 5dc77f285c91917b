#include "accuracy/scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "accuracy/baselines.h"
#include "accuracy/each.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {
namespace {

constexpr int kBins = 10;

Run run(const Doctor& doctor, const Family& family, std::uint64_t seed) {
  const Case made = case_of(family, seed);
  const Wanted wanted = wanted_of(family, options_of(family, seed).nccl, made.truth);
  const Diagnosis diagnosis = doctor.diagnose(made.files);
  Run result;
  result.seed = seed;
  result.score = judge(diagnosis, wanted);
  for (const Baseline& baseline : baselines())
    result.baselines.push_back(judge_guess(baseline.guess(made.files, doctor.catalog()), wanted));
  if (family.group != Group::fault || !result.score.culprit) return result;
  result.without_source = without_decisive(doctor, made.files, diagnosis, Taken::source);
  result.without_lines = without_decisive(doctor, made.files, diagnosis, Taken::lines);
  return result;
}

// In how many of the runs something holds.
struct Share {
  std::size_t yes = 0;
  std::size_t all = 0;
  void count(bool it) {
    yes += it;
    ++all;
  }
  double percent() const {
    return all == 0 ? 0 : 100.0 * static_cast<double>(yes) / static_cast<double>(all);
  }
};

std::string percent(const Share& share) {
  return share.all == 0 ? "–" : fmt::format("{:.1f} %", share.percent());
}

struct Totals {
  std::size_t runs = 0;
  Share verdict, first, third, culprit, false_alarm, forbidden;
};

void add(Totals& totals, const Score& score, bool healthy, bool two) {
  ++totals.runs;
  totals.verdict.count(score.verdict);
  totals.forbidden.count(score.forbidden);
  if (healthy) {
    totals.false_alarm.count(score.false_alarm);
    return;
  }
  totals.first.count(score.first);
  totals.third.count(score.third);
  totals.culprit.count(score.culprit);
  (void)two;
}

bool is_healthy(const Family& family) {
  return family.group == Group::healthy || family.group == Group::twin ||
         family.options.scenario.starts_with("healthy");
}

std::string row(std::string_view name, std::size_t families, const Totals& totals) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name,
                     families == 0 ? "" : fmt::format("{}", families), totals.runs,
                     percent(totals.verdict), percent(totals.first), percent(totals.third),
                     percent(totals.culprit), percent(totals.false_alarm),
                     percent(totals.forbidden));
}

constexpr std::string_view kHead =
    "| | families | runs | verdict | first cause | first three | culprit | false alarms | wrong "
    "part at ≥ 0.9 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

constexpr std::pair<Group, std::string_view> kGroups[] = {
    {Group::fault, "one fault"},
    {Group::bystander, "beside a bystander's fault"},
    {Group::old, "after an old fault"},
    {Group::noise, "with noise"},
    {Group::incomplete, "half of the logs"},
    {Group::unexplained, "only the stop"},
    {Group::two_causes, "two causes"},
    {Group::kernels, "kernels that say much else"},
    {Group::no_boot, "kernel logs without the boot"},
    {Group::pods, "pods, whose pids are equal"},
    {Group::excerpt, "the middle of each log"},
    {Group::ending, "a death or a hang"},
    {Group::healthy, "healthy, and looks odd"},
    {Group::twin, "healthy twins"},
};

std::string by_group(const std::vector<Family>& families, const std::vector<Run>& runs) {
  std::string text(kHead);
  for (const auto& [group, name] : kGroups) {
    Totals totals;
    for (const Run& it : runs)
      if (families[it.family].group == group)
        add(totals, it.score, is_healthy(families[it.family]), false);
    const auto count = std::ranges::count(families, group, &Family::group);
    if (totals.runs > 0) text += row(name, static_cast<std::size_t>(count), totals);
  }
  Totals all;
  for (const Run& it : runs) add(all, it.score, is_healthy(families[it.family]), false);
  return text + row("**all**", families.size(), all);
}

std::string by_baseline(const std::vector<Family>& families, const std::vector<Run>& runs) {
  std::string text(kHead);
  Totals own;
  for (const Run& it : runs) add(own, it.score, is_healthy(families[it.family]), false);
  text += row("Faultline", 0, own);
  for (std::size_t i = 0; i < baselines().size(); ++i) {
    Totals totals;
    for (const Run& it : runs) add(totals, it.baselines[i], is_healthy(families[it.family]), false);
    text += row(baselines()[i].name, 0, totals);
  }
  return text;
}

struct Bin {
  double stated = 0;
  Share right;
};

std::array<Bin, kBins> bins_of(const std::vector<Stated>& stated) {
  std::array<Bin, kBins> bins;
  for (const Stated& it : stated) {
    const int at =
        std::clamp(static_cast<int>(std::floor(it.confidence * kBins + 1e-9)), 0, kBins - 1);
    bins[static_cast<std::size_t>(at)].stated += it.confidence;
    bins[static_cast<std::size_t>(at)].right.count(it.right);
  }
  return bins;
}

std::string by_confidence(const std::vector<Run>& runs) {
  std::vector<Stated> all;
  std::vector<Stated> first;
  for (const Run& it : runs) {
    all.insert(all.end(), it.score.stated.begin(), it.score.stated.end());
    if (!it.score.stated.empty()) first.push_back(it.score.stated.front());
  }
  std::string text =
      "| stated | causes | mean stated | observed | first causes | mean stated | observed |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  const auto of_all = bins_of(all);
  const auto of_first = bins_of(first);
  const auto cells = [](const Bin& bin) {
    if (bin.right.all == 0) return std::string("0 | – | –");
    return fmt::format("{} | {:.2f} | {:.2f}", bin.right.all,
                       bin.stated / static_cast<double>(bin.right.all), bin.right.percent() / 100);
  };
  for (int i = 0; i < kBins; ++i)
    text += fmt::format("| {:.1f} to {:.1f} | {} | {} |\n", i / 10.0, (i + 1) / 10.0,
                        cells(of_all[static_cast<std::size_t>(i)]),
                        cells(of_first[static_cast<std::size_t>(i)]));
  return text + fmt::format(
                    "\nExpected calibration error: {:.3f} over all causes that were stated, {:.3f} "
                    "over first causes.\n",
                    calibration_error(all), calibration_error(first));
}

std::string by_decisive(const std::vector<Run>& runs) {
  constexpr std::pair<WithoutDecisive Run::*, std::string_view> kTaken[] = {
      {&Run::without_source, "the source of the decisive line"},
      {&Run::without_lines, "the decisive lines alone"},
  };
  std::string text = "| taken away | diagnoses | less sure | asked for |\n|---|--:|--:|--:|\n";
  for (const auto& [which, name] : kTaken) {
    Share less_sure;
    Share asked_for;
    for (const Run& it : runs) {
      const WithoutDecisive& without = it.*which;
      if (without.source.empty()) continue;
      less_sure.count(without.less_sure);
      asked_for.count(without.asked_for);
    }
    text += fmt::format("| {} | {} | {} | {} |\n", name, less_sure.all, percent(less_sure),
                        percent(asked_for));
  }
  return text;
}

// Families in which something went wrong, the worst first.
std::string weak_ones(const std::vector<Family>& families, const std::vector<Run>& runs) {
  struct Weak {
    std::size_t family = 0;
    Totals totals;
    std::size_t wrong = 0;
    Share less_sure, asked_for;
  };
  std::vector<Weak> all(families.size());
  for (std::size_t i = 0; i < families.size(); ++i) all[i].family = i;
  for (const Run& it : runs) {
    Weak& weak = all[it.family];
    add(weak.totals, it.score, is_healthy(families[it.family]), false);
    weak.wrong += !it.score.verdict || !it.score.first || !it.score.third || !it.score.culprit ||
                  it.score.false_alarm || it.score.forbidden;
  }
  std::ranges::stable_sort(all, std::greater{}, &Weak::wrong);
  std::string text(kHead);
  std::size_t shown = 0;
  for (const Weak& weak : all)
    if (weak.wrong > 0) {
      const Family& family = families[weak.family];
      text += row(family.name, 0, weak.totals);
      ++shown;
    }
  if (shown == 0) return "None.\n";
  return text;
}

}  // namespace

double calibration_error(const std::vector<Stated>& stated) {
  if (stated.empty()) return 0;
  double error = 0;
  for (const Bin& bin : bins_of(stated))
    if (bin.right.all > 0) error += std::abs(bin.stated - static_cast<double>(bin.right.yes));
  return error / static_cast<double>(stated.size());
}

std::vector<Run> run_all(const std::vector<Family>& families, std::uint64_t first,
                         std::uint64_t seeds, unsigned threads) {
  const Doctor doctor;
  std::vector<Run> runs(families.size() * seeds);
  for_each_number(runs.size(), threads, [&](std::size_t i) {
    runs[i] = run(doctor, families[i / seeds], first + i % seeds);
    runs[i].family = i / seeds;
  });
  return runs;
}

std::string tables(const std::vector<Family>& families, const std::vector<Run>& runs) {
  std::string text;
  text += "### By kind of job\n\n" + by_group(families, runs);
  text += "\n### Compared with simple guesses\n\n" + by_baseline(families, runs) + "\n";
  for (const Baseline& baseline : baselines())
    text += fmt::format("- {}: {}\n", baseline.name, baseline.about);
  text += "\n### Stated and observed\n\n" + by_confidence(runs);
  text += "\n### Without the decisive line\n\n" + by_decisive(runs);
  text += "\n### Families in which something went wrong\n\n" + weak_ones(families, runs);
  return text;
}

std::string troubles(const std::vector<Family>& families, const std::vector<Run>& runs) {
  std::string text;
  for (const Run& it : runs) {
    const Family& family = families[it.family];
    const simulation::Options options = options_of(family, it.seed);
    const std::string form =
        fmt::format("{} #{} [{} {} {} {}x{} tp{} pp{}]", family.name, it.seed, options.nccl,
                    options.wrapper, name_of(options.layout), options.nodes, options.gpus_per_node,
                    options.tensor_parallel, options.pipeline_parallel);
    if (!it.score.trouble.empty()) text += fmt::format("{}: {}\n", form, it.score.trouble);
    for (const auto& [without, what] :
         {std::pair(&it.without_source, ""), std::pair(&it.without_lines, "the lines in ")})
      if (!without->source.empty() && (!without->less_sure || !without->asked_for))
        text += fmt::format("{}: without {}{}{}{}: {}\n", form, what, without->source,
                            without->less_sure ? "" : " as sure",
                            without->asked_for ? "" : " not asked for", without->left);
  }
  return text;
}

}  // namespace faultline::accuracy
