// Findings from profiles of ranks (torch.profiler): communication that computing does not hide, and
// ranks that come late.
//
// A rank waits for its peers inside its communication kernels. So the rank that communicates least
// is the one that the others wait for, and the time that it communicates is what the network takes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr double kPerMs = 1000;

// Times of one step, or of the whole profile, in microseconds.
struct Stretch {
  double span = 0;
  double own = 0;  // kernels and copies, without communication
  double idle = 0;
  double collective = 0;
};

struct Profile {
  const PartRecord* record = nullptr;
  int rank = -1;
  Stretch all;
  double communication = 0;
  double exposed = 0;
  double kernels = 0;
  std::map<std::int64_t, Stretch> steps;
};

// "step 12 / span us"
void read_step(std::string_view name, double value, Profile& profile) {
  if (!name.starts_with("step ")) return;
  name.remove_prefix(5);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc()) return;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  Stretch& step = profile.steps[number];
  if (name == " / span us") step.span = value;
  if (name == " / own us") step.own = value;
  if (name == " / idle us") step.idle = value;
  if (name == " / collective us") step.collective = value;
}

Profile profile_of(const View& view, const PartRecord& record) {
  Profile profile{.record = &record, .rank = profiled_rank(view, record)};
  auto number = [&](std::string_view name) { return number_in(view, record, name).value_or(0); };
  profile.all = {.span = number("span us"),
                 .own = number("own us"),
                 .idle = number("idle us"),
                 .collective = number("collective us")};
  profile.communication = number("communication us");
  profile.exposed = number("exposed communication us");
  profile.kernels = number("kernels");
  for (const PartSeries& series : record.values)
    read_step(view.job.parts().text(series.name), leading_number(series.last().value).value_or(0),
              profile);
  return profile;
}

// One profile of each rank, the one with the most steps: the first profile of a run may cover only
// its warm-up. Profiles without a rank are all kept.
std::vector<Profile> profiles_of(const View& view) {
  const auto& rules = view.catalog.performance.profile;
  std::map<int, Profile> by_rank;
  std::vector<Profile> all;
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.kind != "trace") continue;
    Profile profile = profile_of(view, record);
    if (profile.all.span < rules.least_span_ms * kPerMs || profile.kernels < rules.least_kernels)
      continue;
    if (profile.rank < 0) {
      all.push_back(std::move(profile));
      continue;
    }
    const auto known = by_rank.find(profile.rank);
    if (known == by_rank.end() || known->second.steps.size() <= profile.steps.size())
      by_rank.insert_or_assign(profile.rank, std::move(profile));
  }
  for (auto& [rank, profile] : by_rank) all.push_back(std::move(profile));
  return all;
}

struct Late {
  std::size_t who = 0;
  double gap = 0;  // how much longer the others communicate
  double span = 0;
  bool computes = false;  // longer than the others
  bool idles = false;
};

// The rank that the others wait for in one stretch, if there is one.
std::optional<Late> late_in(const std::vector<Stretch>& stretches, double least_gap,
                            double accounted) {
  const auto least = std::ranges::min_element(stretches, {}, &Stretch::collective);
  std::vector<double> collective;
  std::vector<double> own;
  std::vector<double> idle;
  std::vector<double> span;
  for (auto each = stretches.begin(); each != stretches.end(); ++each) {
    span.push_back(each->span);
    if (each == least) continue;
    collective.push_back(each->collective);
    own.push_back(each->own);
    idle.push_back(each->idle);
  }
  Late late{.who = static_cast<std::size_t>(least - stretches.begin()),
            .gap = median(collective) - least->collective,
            .span = median(span)};
  if (late.span <= 0 || late.gap < least_gap * late.span) return std::nullopt;
  late.computes = least->own - median(own) >= accounted * late.gap;
  late.idles = !late.computes && least->idle - median(idle) >= accounted * late.gap;
  if (!late.computes && !late.idles) return std::nullopt;
  return late;
}

// The steps that all profiles have; of each step, one stretch for each profile.
std::vector<std::vector<Stretch>> common_steps(const std::vector<Profile>& profiles) {
  std::vector<std::vector<Stretch>> steps;
  for (const auto& [number, first] : profiles.front().steps) {
    std::vector<Stretch> stretches;
    for (const Profile& profile : profiles) {
      const auto step = profile.steps.find(number);
      if (step == profile.steps.end()) break;
      stretches.push_back(step->second);
    }
    if (stretches.size() == profiles.size()) steps.push_back(std::move(stretches));
  }
  return steps;
}

// How long the rank of each profile waited in collectives for the rank that came last. That may be
// a different rank in each step.
std::vector<double> waited_for_the_last(const std::vector<Profile>& profiles) {
  std::vector<double> waited(profiles.size());
  for (const std::vector<Stretch>& stretches : common_steps(profiles)) {
    const double least = std::ranges::min(stretches, {}, &Stretch::collective).collective;
    for (std::size_t i = 0; i < waited.size(); ++i) waited[i] += stretches[i].collective - least;
  }
  return waited;
}

struct Verdicts {
  std::size_t steps = 0;
  std::vector<std::size_t> late;  // by profile: in how many steps
  std::vector<std::size_t> computes;
  std::vector<double> share;  // sum of gap / span
};

Verdicts judge_steps(const std::vector<Profile>& profiles,
                     const PerformanceCatalog::Straggler& rules) {
  const std::size_t count = profiles.size();
  Verdicts verdicts{.steps = 0,
                    .late = std::vector<std::size_t>(count),
                    .computes = std::vector<std::size_t>(count),
                    .share = std::vector<double>(count)};
  for (const std::vector<Stretch>& stretches : common_steps(profiles)) {
    ++verdicts.steps;
    const auto late = late_in(stretches, rules.gap, rules.accounted);
    if (!late) continue;
    ++verdicts.late[late->who];
    verdicts.computes[late->who] += late->computes ? 1 : 0;
    verdicts.share[late->who] += late->gap / late->span;
  }
  return verdicts;
}

Suspicion describe_late(const View& view, const Profile& profile, bool computes, double share,
                        std::string_view seen_in, Claim claim) {
  Suspicion suspicion = slow_suspicion(view, *profile.record, Cause::software_straggler, claim);
  Finding& finding = suspicion.finding;
  lay_on_rank(view, profile.rank, finding);
  finding.title = fmt::format(
      "Rank {} comes late to collectives in {}: its GPU {}, and its peers wait {:.0f} % of a step",
      profile.rank, seen_in, computes ? "computes longer" : "is idle for longer", share * 100);
  const std::string host = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front();
  if (computes)
    finding.actions = {{.what = "Compare the GPU's clocks, power and temperature with those of "
                                "the other GPUs, and compare how much work each rank has.",
                        .where = host,
                        .command = "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE"}};
  else
    finding.actions = {{.what = "Check what the rank's process does on the CPU while its GPU "
                                "waits: data loading, saving, garbage collection, a busy host.",
                        .where = host,
                        .command = "py-spy dump --pid {pid}; top -b -n 1 -H -p {pid}"}};
  return suspicion;
}

// Stages of a pipeline wait for each other by design.
bool pipelined(const Profile& profile, double most) {
  return profile.communication > 0 &&
         (profile.communication - profile.all.collective) / profile.communication > most;
}

std::optional<std::size_t> find_straggler(const View& view, const std::vector<Profile>& profiles,
                                          std::vector<Suspicion>& found) {
  const PerformanceCatalog& catalog = view.catalog.performance;
  const bool comparable =
      profiles.size() >= 2 && std::ranges::none_of(profiles, [&](const Profile& profile) {
        return profile.rank < 0 || pipelined(profile, catalog.profile.pipeline);
      });
  if (!comparable) return std::nullopt;
  const Verdicts verdicts = judge_steps(profiles, catalog.straggler);
  if (static_cast<double>(verdicts.steps) >= catalog.straggler.steps) {
    const auto most = std::ranges::max_element(verdicts.late);
    const auto who = static_cast<std::size_t>(most - verdicts.late.begin());
    if (*most == 0 || static_cast<double>(*most) <
                          catalog.straggler.consistent * static_cast<double>(verdicts.steps))
      return std::nullopt;
    found.push_back(
        describe_late(view, profiles[who], 2 * verdicts.computes[who] >= *most,
                      verdicts.share[who] / static_cast<double>(*most),
                      fmt::format("{} of {} steps", *most, verdicts.steps),
                      profiles.size() > 2 ? Claim::profile_straggler : Claim::profile_one_of_two));
    return who;
  }
  if (verdicts.steps > 0) return std::nullopt;  // too few to be called consistent
  std::vector<Stretch> stretches;
  for (const Profile& profile : profiles) stretches.push_back(profile.all);
  const auto late =
      late_in(stretches, catalog.straggler.gap_without_steps, catalog.straggler.accounted);
  if (!late) return std::nullopt;
  found.push_back(describe_late(view, profiles[late->who], late->computes, late->gap / late->span,
                                "the whole profile", Claim::profile_without_steps));
  return late->who;
}

void find_exposed(const View& view, const std::vector<Profile>& profiles,
                  std::vector<Suspicion>& found) {
  const std::vector<double> waited = waited_for_the_last(profiles);
  const Profile* least = nullptr;
  double share = 0;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const double own = (profiles[i].exposed - waited[i]) / profiles[i].all.span;
    if (least != nullptr && own >= share) continue;
    least = &profiles[i];
    share = own;
  }
  if (share <= view.catalog.performance.profile.exposed_communication) return;
  const bool alone = profiles.size() == 1;
  // The ranks may wait for ranks whose profiles were not seen.
  const bool some = static_cast<int>(profiles.size()) < view.roll.expected;
  Suspicion suspicion = slow_suspicion(view, *least->record, Cause::performance_communication_bound,
                                       alone  ? Claim::profile_share_of_one
                                       : some ? Claim::profile_share_of_some
                                              : Claim::profile_share);
  Finding& finding = suspicion.finding;
  finding.title =
      alone ? fmt::format(
                  "{} spends {:.0f} % of its time on communication that computing "
                  "does not hide, waiting for others included",
                  least->rank < 0 ? "The profiled rank" : fmt::format("Rank {}", least->rank),
                  share * 100)
            : fmt::format(
                  "Each of {} profiled ranks spends at least {:.0f} % of its time on "
                  "communication that computing does not hide",
                  profiles.size(), share * 100);
  if (alone || some)
    finding.actions.push_back(
        {.what = "Profile the other ranks in the same steps: the rank that communicates least is "
                 "the one that the others wait for."});
  finding.actions.push_back(
      {.what = "Measure the network's bandwidth without the program, and compare it with what "
               "is usual for the hardware.",
       .command = "all_reduce_perf -b 1G -e 8G -f 2 -g 8"});
  found.push_back(std::move(suspicion));
}

}  // namespace

std::vector<Suspicion> suspect_profiles(const View& view) {
  std::vector<Suspicion> found;
  const std::vector<Profile> profiles = profiles_of(view);
  if (profiles.empty()) return found;
  find_straggler(view, profiles, found);
  find_exposed(view, profiles, found);
  return found;
}

}  // namespace faultline
