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

struct Living {
  std::unique_ptr<Life> life;
  std::size_t rounds = 0;
};

void begin(Living& living, Lane& lane, const Course& course, Random& random, Verdict& verdict) {
  living = {};  // the life before removes its folder first
  living.life = std::make_unique<Life>(lane.programs(), lane.folder());
  if (course.starts && living.life->start(verdict))
    living.life->load_for(kFirstLoad, random, verdict);
}

}  // namespace

std::optional<std::uint64_t> Lane::next_seed() {
  const std::uint64_t round = task_.begun++;
  if (round >= task_.rounds) return std::nullopt;
  return task_.first_seed + round;
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
  if (verdict.good()) return;
  std::vector<std::string>& failures = tally.failures[seed];
  failures.insert(failures.end(), verdict.failures.begin(), verdict.failures.end());
  if (!task_.keep.empty()) life.keep(task_.keep / fmt::format("{}-{}", task_.kind, seed));
}

void Lane::break_down(const std::string& why) {
  const std::lock_guard lock(task_.mutex);
  task_.tally.failures[task_.first_seed].push_back("the harness cannot go on: " + why);
}

void run_course(Lane& lane, const Course& course) {
  Living living;
  std::uint64_t last_seed = 0;
  const auto end_life = [&] {
    if (!living.life || !course.has_twin) return;
    Verdict verdict{.struck = true};
    living.life->compare_with_twin(verdict);
    if (!verdict.good()) lane.report(last_seed, verdict, *living.life);
  };
  while (const auto seed = lane.next_seed()) {
    Random random(*seed);
    Verdict verdict;
    if (!living.life || living.rounds >= course.rounds_of_a_life) {
      if (living.life) end_life();
      begin(living, lane, course, random, verdict);
    }
    for (int tries = 0; tries < kMostTries && !verdict.struck && verdict.possible && verdict.good();
         ++tries) {
      if (tries == kTriesOfALife) begin(living, lane, course, random, verdict);
      living.life->steering().set_seed(random.seed());
      course.round(*living.life, random, verdict);
    }
    ++living.rounds;
    last_seed = *seed;
    lane.report(*seed, verdict, *living.life);
    if (!verdict.good()) living = {};
  }
  end_life();
}

}  // namespace faultline::faults
