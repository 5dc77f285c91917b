#include "accuracy/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "accuracy/each.h"
#include "simulate/scenario.h"

namespace faultline::accuracy {
namespace {

constexpr double kStated = 0.5;

bool is_dump(std::string_view name) { return name.find("nccl_trace") != std::string_view::npos; }
bool is_of_processes(std::string_view name) {
  return !is_dump(name) &&
         (name.find("nccl.") != std::string_view::npos ||
          name.find("train.") != std::string_view::npos || name.ends_with("torchrun.log"));
}

std::string without(const std::string& text, std::string_view words) {
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find(words) == std::string_view::npos) rest += line;
    at = end;
  }
  return rest;
}

Family family_of(const simulation::Scenario& scenario) {
  Family family{.name = fmt::format("{}, by tiers", scenario.name)};
  family.options.scenario = scenario.name;
  family.options.evidence = "nccl,hosts,watchdog,dumps,launcher";
  family.options.timing = scenario.needs == "dumps";
  return family;
}

// Whether the cause says only that an involved rank died.
bool tells_of_a_death(const Finding& cause, const Subject& may_name) {
  return cause.cause == "software.rank_crashed" &&
         std::ranges::all_of(cause.subject.ranks, [&](int rank) {
           return std::ranges::find(may_name.ranks, rank) != may_name.ranks.end();
         });
}

TierScore score_of(const Diagnosis& diagnosis, Wanted wanted, Tier tier) {
  TierScore result;
  const Score strict = judge(diagnosis, wanted);
  if (tier != Tier::hosts) {
    wanted.open = true;
    for (const WantedCause& cause : wanted.causes) {
      Subject& may = wanted.not_wrong;
      for (const Subject* some : {&cause.subject, &cause.may_name}) {
        may.hosts.insert(may.hosts.end(), some->hosts.begin(), some->hosts.end());
        may.ranks.insert(may.ranks.end(), some->ranks.begin(), some->ranks.end());
        may.gpus.insert(may.gpus.end(), some->gpus.begin(), some->gpus.end());
        may.nics.insert(may.nics.end(), some->nics.begin(), some->nics.end());
      }
    }
    wanted.verdicts.push_back(Verdict::unknown);
  }
  // Without measurements a slow job looks healthy.
  const bool runs_on = std::ranges::any_of(wanted.verdicts, [](Verdict verdict) {
    return verdict == Verdict::slow || verdict == Verdict::corrupt;
  });
  if (tier != Tier::hosts && runs_on) wanted.verdicts.push_back(Verdict::healthy);
  const Score score = judge(diagnosis, wanted);
  result.verdict = score.verdict;
  result.told = strict.first;
  result.part = strict.first && strict.culprit;
  const bool accuses =
      !diagnosis.root_causes.empty() && diagnosis.root_causes.front().confidence >= kStated;
  const bool only_died = tier != Tier::hosts && accuses &&
                         tells_of_a_death(diagnosis.root_causes.front(), wanted.not_wrong);
  result.misled = score.forbidden || (accuses && !score.first && !only_died);
  return result;
}

struct Sum {
  int yes = 0;
  int all = 0;
  void count(bool it) {
    yes += it;
    ++all;
  }
  std::string percent() const {
    return all == 0 ? std::string("–") : fmt::format("{:.1f} %", 100.0 * yes / all);
  }
};

std::vector<TierRun> runs_of(const Doctor& doctor, const simulation::Scenario& scenario,
                             std::uint64_t seed) {
  const Family family = family_of(scenario);
  const Case made = case_of(family, seed);
  const Wanted wanted = wanted_of(family, options_of(family, seed).nccl, made.truth);
  std::vector<TierRun> runs;
  for (const Tier tier : kTiers) {
    const Diagnosis diagnosis = doctor.diagnose(files_of(tier, made.files));
    TierRun run{.what = fmt::format("{} #{}", scenario.name, seed),
                .cause = std::string(scenario.cause),
                .tier = tier,
                .score = score_of(diagnosis, wanted, tier)};
    for (const Finding& it : diagnosis.root_causes)
      if (run.score.misled) run.told += fmt::format("{} {:.2f}; ", it.cause, it.confidence);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

std::string_view name_of(Tier tier) {
  constexpr std::string_view kNames[] = {"WARN", "+ INIT", "+ COLL", "+ recorder",
                                         "+ kernels and tools"};
  return kNames[static_cast<std::size_t>(tier)];
}

Files files_of(Tier tier, const Files& all) {
  Files files;
  for (const auto& [name, text] : all) {
    if (is_dump(name) && tier < Tier::recorder) continue;
    if (!is_dump(name) && !is_of_processes(name) && tier < Tier::hosts) continue;
    if (is_of_processes(name) && tier == Tier::warnings)
      files[name] = without(text, " NCCL INFO ");
    else if (is_of_processes(name) && tier == Tier::init)
      files[name] = without(text, ": opCount ");
    else
      files[name] = text;
  }
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

std::vector<TierRun> run_tiers(std::uint64_t first, std::uint64_t seeds, unsigned threads) {
  const Doctor doctor;
  std::vector<const simulation::Scenario*> faults;
  for (const simulation::Scenario& scenario : simulation::scenarios())
    if (!scenario.cause.empty()) faults.push_back(&scenario);
  std::vector<std::vector<TierRun>> all(faults.size() * seeds);
  for_each_number(all.size(), threads, [&](std::size_t i) {
    all[i] = runs_of(doctor, *faults[i / seeds], first + i % seeds);
  });
  std::vector<TierRun> runs;
  for (std::vector<TierRun>& some : all) runs.insert(runs.end(), some.begin(), some.end());
  return runs;
}

std::string tier_troubles(const std::vector<TierRun>& runs) {
  std::string text;
  for (const TierRun& run : runs)
    if (run.score.misled)
      text += fmt::format("{} ({}), {}: {}\n", run.what, run.cause, name_of(run.tier), run.told);
  return text;
}

std::string tier_tables(const std::vector<TierRun>& runs) {
  constexpr std::size_t kCount = std::size(kTiers);
  Sum verdict[kCount];
  Sum told[kCount];
  Sum part[kCount];
  Sum misled[kCount];
  std::map<std::string, std::vector<Sum>> by_class;
  for (const TierRun& run : runs) {
    const auto at = static_cast<std::size_t>(run.tier);
    verdict[at].count(run.score.verdict);
    told[at].count(run.score.told);
    part[at].count(run.score.part);
    misled[at].count(run.score.misled);
    auto& row = by_class.try_emplace(run.cause, kCount).first->second;
    row[at].count(run.score.part);
  }
  std::string text =
      "| sent | jobs | verdict | class first | and its part | misled |\n"
      "|---|--:|--:|--:|--:|--:|\n";
  for (std::size_t at = 0; at < kCount; ++at)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name_of(kTiers[at]), told[at].all,
                        verdict[at].percent(), told[at].percent(), part[at].percent(),
                        misled[at].percent());
  text += "\nClass and part, by what was sent:\n\n| class |";
  for (const Tier tier : kTiers) text += fmt::format(" {} |", name_of(tier));
  text += "\n|---|--:|--:|--:|--:|--:|\n";
  for (const auto& [cause, row] : by_class) {
    text += fmt::format("| `{}` |", cause);
    for (const Sum& sum : row) text += fmt::format(" {} |", sum.percent());
    text += "\n";
  }
  return text;
}

}  // namespace faultline::accuracy
