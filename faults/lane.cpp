#include "faults/lane.h"

#include <fmt/format.h>

#include <memory>

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

// A fault may not strike; then its round is tried again.
constexpr int kMostTries = 5;
// After so many tries a new life begins: once SQLite's log has been long, no file grows for a
// while.
constexpr int kTriesOfALife = 3;
constexpr auto kFirstLoad = 60ms;

std::unique_ptr<Life> begin(Lane& lane, const Course& course, std::uint64_t seed,
                            Verdict& verdict) {
  auto life = std::make_unique<Life>(lane.programs(), lane.folder());
  Random random(seed, Use::shared);
  if (course.starts && life->start(verdict)) life->load_for(kFirstLoad, random, verdict);
  return life;
}

}  // namespace

std::vector<std::uint64_t> Lane::next_seeds(std::uint64_t most) {
  const std::lock_guard lock(task_.mutex);
  std::vector<std::uint64_t> seeds;
  while (task_.begun < task_.rounds) {
    const std::uint64_t seed = task_.first_seed + task_.begun;
    if (!seeds.empty() && seed % most == 0) break;
    seeds.push_back(seed);
    ++task_.begun;
  }
  return seeds;
}

std::filesystem::path Lane::folder() const {
  return task_.folder / fmt::format("{}-{}", task_.kind, number_);
}

void Lane::report(std::uint64_t seed, const Verdict& verdict, Life& life) {
  const std::lock_guard lock(task_.mutex);
  Tally& tally = task_.tally;
  tally.acknowledged += verdict.acknowledged;
  tally.refused += verdict.refused;
  tally.unanswered += verdict.unanswered;
  tally.checks += verdict.checks;
  if (!verdict.possible)
    ++tally.impossible;
  else if (verdict.struck)
    ++tally.rounds;
  else
    ++tally.missed;
  if (!verdict.choice.empty()) tally.choices[seed] = verdict.choice;
  if (verdict.good()) return;
  FailedRound& failed = tally.failures[seed];
  failed.rounds_before = verdict.rounds_before;
  failed.reasons.insert(failed.reasons.end(), verdict.failures.begin(), verdict.failures.end());
  if (!task_.keep.empty()) life.keep(task_.keep / fmt::format("{}-{}", task_.kind, seed));
}

void Lane::break_down(const std::string& why) {
  const std::lock_guard lock(task_.mutex);
  task_.tally.failures[task_.first_seed].reasons.push_back("the harness cannot go on: " + why);
}

namespace {

// The rounds of one life, or of several if a round fails.
void run_rounds(Lane& lane, const Course& course, const std::vector<std::uint64_t>& seeds) {
  std::unique_ptr<Life> life;
  std::uint64_t first = 0;
  for (const std::uint64_t seed : seeds) {
    Random random(seed);
    Verdict verdict;
    if (!life) {
      first = seed;
      life = begin(lane, course, seed, verdict);
    }
    verdict.rounds_before = seed - first;
    for (int tries = 0; tries < kMostTries && !verdict.struck && verdict.possible && verdict.good();
         ++tries) {
      if (tries == kTriesOfALife) {
        life.reset();  // removes its folder first
        life = begin(lane, course, seed, verdict);
      }
      life->steering().set_seed(random.seed());
      course.round(*life, random, verdict);
    }
    lane.report(seed, verdict, *life);
    if (!verdict.good()) life.reset();
  }
  if (!life || !course.has_twin) return;
  Verdict verdict{.struck = true, .rounds_before = seeds.back() - first};
  life->compare_with_twin(verdict);
  if (!verdict.good()) lane.report(seeds.back(), verdict, *life);
}

}  // namespace

void run_course(Lane& lane, const Course& course) {
  for (auto seeds = lane.next_seeds(course.rounds_of_a_life); !seeds.empty();
       seeds = lane.next_seeds(course.rounds_of_a_life))
    run_rounds(lane, course, seeds);
}

}  // namespace faultline::faults
