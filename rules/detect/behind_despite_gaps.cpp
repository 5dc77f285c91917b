#include "rules/detect/behind_despite_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rules/detect/lost_lines.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/program_order.h"

namespace faultline {
namespace {

// If lines are missing, every rank seems to be behind somewhere, because lines of its later calls
// are lost. So two explanations are weighed against each other: one rank stopped and all others
// went on from there, or all ranks stopped at the same call and each log lost other lines by
// chance.
constexpr double kHealthyJobs = 20;  // for each job in which a rank stopped silently
// Below this probability the other explanation fits as well.
constexpr double kSureStory = 19.0 / 20;
constexpr std::size_t kMostLinesOfWitness = 2;
constexpr int kRounds = 4;             // of estimating where ranks usually stop
constexpr double kUnusual = 1.0 / 20;  // chance that a rank ended at an unusual place
// If more than half of the ranks closed their communicators cleanly, the job was over.
constexpr std::size_t kOverIfOneOf = 2;

struct Suspect {
  std::size_t place = 0;     // index into the program's places
  double probability = 0;    // that it stopped alone
  std::size_t made = 0;      // calls of the program that it made
  std::size_t short_by = 0;  // calls fewer than half of the others made
};

double log_of(double value) {
  return value > 0 ? std::log(value) : -std::numeric_limits<double>::max() / 1e6;
}

// The distribution of the places where workers of this job stopped: the prior for one worker.
std::vector<double> usual_ends(const ProgramOrder& program) {
  const std::size_t size = program.calls.size() + 1;
  std::vector<double> usual(size, 1.0 / static_cast<double>(size));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(size, kUnusual / static_cast<double>(size));
    for (const ProgramPlace& place : program.places) {
      double sum = 0;
      for (std::size_t k = 0; k < size; ++k) sum += place.likelihood[k] * usual[k];
      if (sum <= 0) continue;
      const double share = (1 - kUnusual) / (sum * static_cast<double>(program.places.size()));
      for (std::size_t k = 0; k < size; ++k) next[k] += place.likelihood[k] * usual[k] * share;
    }
    usual = std::move(next);
  }
  return usual;
}

// For each k: the log of the likelihood that the worker went further than k.
std::vector<double> went_further(const std::vector<double>& likelihood,
                                 const std::vector<double>& usual) {
  std::vector<double> logs(likelihood.size());
  double sum = 0;
  for (std::size_t k = likelihood.size(); k-- > 0;) {
    logs[k] = log_of(sum);
    sum += likelihood[k] * usual[k];
  }
  return logs;
}

std::size_t likeliest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

std::size_t short_of_half_the_others(const ProgramOrder& program, std::size_t place,
                                     std::size_t made) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < program.places.size(); ++i)
    if (i != place) others.push_back(likeliest(program.places[i].likelihood));
  std::ranges::nth_element(others, others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2));
  const std::size_t middle = others[others.size() / 2];
  return middle > made ? middle - made : 0;
}

std::optional<Suspect> who_stopped(const ProgramOrder& program) {
  const std::size_t size = program.calls.size() + 1;
  const std::size_t workers = program.places.size();
  std::vector<std::vector<double>> further;
  std::vector<double> all_further(size, 0);
  std::vector<double> together(size, 0);
  const std::vector<double> usual = usual_ends(program);
  for (const ProgramPlace& place : program.places) {
    further.push_back(went_further(place.likelihood, usual));
    for (std::size_t k = 0; k < size; ++k) {
      all_further[k] += further.back()[k];
      together[k] += log_of(place.likelihood[k]);
    }
  }
  auto alone = [&](std::size_t which, std::size_t k) {
    return log_of(program.places[which].likelihood[k]) + all_further[k] - further[which][k];
  };
  double most = *std::ranges::max_element(together);
  for (std::size_t which = 0; which < workers; ++which)
    for (std::size_t k = 0; k + 1 < size; ++k) most = std::max(most, alone(which, k));

  double in_step = 0;
  for (double value : together) in_step += std::exp(value - most);
  double sum = in_step;
  Suspect suspect;
  for (std::size_t which = 0; which < workers; ++which) {
    double stopped = 0;
    double best = 0;
    std::size_t made = 0;
    for (std::size_t k = 0; k + 1 < size; ++k) {
      const double value = std::exp(alone(which, k) - most) / static_cast<double>(workers);
      stopped += value;
      if (value > best) best = value, made = k;
    }
    sum += stopped;
    if (stopped > suspect.probability) suspect = {which, stopped, made};
  }
  if (sum <= 0) return std::nullopt;
  suspect.probability /= sum;
  suspect.short_by = short_of_half_the_others(program, suspect.place, suspect.made);
  // The number of ranks expected to fall this short only because their last lines were lost.
  const double by_chance =
      static_cast<double>(workers) * std::pow(program.loss, static_cast<double>(suspect.short_by));
  suspect.probability /= 1 + kHealthyJobs * by_chance;
  return suspect;
}

bool program_is_over(const View& view) {
  std::size_t left = 0;
  for (const Worker& worker : view.workers.all)
    left += std::ranges::any_of(
        worker.members, [&](std::size_t index) { return view.member(index).left_cleanly(); });
  return left * kOverIfOneOf > view.workers.all.size();
}

Sureness sureness_of_suspect(const ProgramOrder& program, const Suspect& suspect) {
  Sureness sure = Claim::rank_behind_despite_gaps;
  doubt_lost_lines(program.loss, sure);
  if (suspect.probability < kSureStory) sure.add(Ground::other_story);
  return sure;
}

Suspicion describe_suspect(const View& view, const ProgramOrder& program, const Suspect& suspect) {
  const Worker& worker = view.workers.all[program.places[suspect.place].worker];
  const ProgramCall& next = program.calls[suspect.made];
  // Its last line, and the communicator on which its peers wait for it.
  std::size_t last = worker.members.front();
  std::string communicator;
  for (std::size_t index : worker.members) {
    const Member& member = view.member(index);
    if (member.last_line.known() && (!view.member(last).last_line.known() ||
                                     member.last_line.line > view.member(last).last_line.line))
      last = index;
    if (member.nranks == next.nranks && view.communicator_of[index] != kNoCommunicator)
      communicator = view.communicators[view.communicator_of[index]].id;
  }

  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.sure = sureness_of_suspect(program, suspect);
  // If the lines also fit a job in which nobody stopped, they do not show a hang.
  suspicion.verdict = suspicion.sure.has(Ground::other_story) ? Verdict::unknown : Verdict::hang;
  suspicion.since = view.member(last).last_line.time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::collective_rank_behind;
  finding.title = fmt::format(
      "{} stopped about {} earlier than half of its peers; its next call would be {}{}{}; about "
      "{:.0f} % of the lines are missing",
      people_of(view, {last}), counted(suspect.short_by, "call"),
      view.job.progress().signature(next.symbol).function,
      communicator.empty() ? "" : " of communicator ", communicator,
      std::max(1.0, program.loss * 100));
  finding.severity = Severity::critical;
  finding.subject = subject_of(view, {last});
  finding.subject.communicators.clear();
  if (!communicator.empty()) finding.subject.communicators = {communicator};
  if (view.member(last).last_line.known())
    finding.evidence.push_back(view.evidence(view.member(last).last_line));
  // Also a line of the worker that went furthest.
  std::size_t furthest = suspect.place;
  for (std::size_t i = 0; i < program.places.size(); ++i)
    if (likeliest(program.places[i].likelihood) > likeliest(program.places[furthest].likelihood))
      furthest = i;
  const LineRef* witness = nullptr;
  for (std::size_t index : view.workers.all[program.places[furthest].worker].members)
    if (const LineRef& line = view.member(index).last_line;
        line.known() && (witness == nullptr || line.line > witness->line))
      witness = &line;
  if (witness != nullptr && finding.evidence.size() < kMostLinesOfWitness)
    finding.evidence.push_back(view.evidence(*witness));
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_ranks_behind_despite_gaps(const View& view) {
  if (program_is_over(view)) return {};
  const auto program = program_order_of(view);
  if (!program) return {};
  const auto suspect = who_stopped(*program);
  if (!suspect || suspect->probability < limits::least_probability || suspect->short_by == 0)
    return {};
  const Worker& worker = view.workers.all[program->places[suspect->place].worker];
  if (std::ranges::any_of(worker.members, [&](std::size_t m) { return view.is_live(m); }))
    return {};
  return {describe_suspect(view, *program, *suspect)};
}

}  // namespace faultline
