#include "faults/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "faults/power_disk.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCutsOfARun = 50;

// What a run leaves: its ledger, its journal, and the disk made from the journal.
struct Run {
  std::unique_ptr<Life> life;
  std::unique_ptr<JournalReader> journal;
  PowerDisk disk;
};

// A start in an empty folder, load, rest, a proper stop and a kill: each does other things to the
// disk. Runs for few cuts have no rest.
Run run_under_load(Lane& lane, Random& random, std::size_t cuts, Verdict& verdict) {
  Run run{.life = std::make_unique<Life>(lane.programs(), lane.folder(), Journal::kept)};
  Life& life = *run.life;
  if (lane.syncs_lie()) life.steering().let_syncs_lie();
  const auto some_load = [&] {
    life.load_for(std::chrono::milliseconds(std::min<std::size_t>(1000, 30 * cuts)), random,
                  verdict);
  };
  if (!life.start(verdict)) return run;
  some_load();
  if (cuts >= kCutsOfARun / 2) {
    std::this_thread::sleep_for(kUntilTheLogIsFolded);
    some_load();
  }
  life.server().stop();
  if (!life.start(verdict)) return run;
  some_load();
  life.server().kill_now();
  if (!life.start(verdict)) return run;
  some_load();
  life.server().kill_now();
  run.journal = std::make_unique<JournalReader>(life.server().journal());
  return run;
}

// Where the power goes: anywhere, but more often than by chance while the database is made.
std::uint64_t place_of_cut(std::uint64_t seed, std::uint64_t journal_bytes) {
  constexpr std::uint64_t kWhileItIsMade = 256 << 10;
  Random random(seed);
  return random.between(0,
                        random.one_in(8) ? std::min(journal_bytes, kWhileItIsMade) : journal_bytes);
}

// Applies the journal up to the cut, which is not before `position` and where something is
// unsynced. False: there is no such place.
bool go_on_to(Run& run, std::uint64_t position) {
  while (run.journal->position() < position || !run.disk.has_unsynced())
    if (!run.journal->apply_next(run.disk)) return run.disk.has_unsynced();
  return true;
}

void cut(Lane& lane, Run& run, std::uint64_t seed, std::uint64_t position, Verdict verdict) {
  Random random(seed);
  verdict.struck = go_on_to(run, position);
  Life after(lane.programs(), lane.folder().string() + "-cut");
  run.disk.leave_behind(after.server().data(), random);
  // A copy, for a person who has to find out why the round failed.
  std::filesystem::copy(after.server().data(), after.folder() / "data-after-the-cut",
                        std::filesystem::copy_options::recursive);
  after.ledger() = run.life->ledger().as_of(run.journal->position());
  after.restart_and_check(verdict);
  if (!verdict.good())
    verdict.fail(fmt::format("(the power was cut at byte {} of {} of the journal)",
                             run.journal->position(), run.journal->size()));
  lane.report(seed, verdict, after);
}

}  // namespace

void run_power_cuts(Lane& lane) {
  for (;;) {
    std::vector<std::uint64_t> seeds;
    while (seeds.size() < kCutsOfARun) {
      const auto seed = lane.next_seed();
      if (!seed) break;
      seeds.push_back(*seed);
    }
    if (seeds.empty()) return;
    Random random(seeds.front());
    Verdict of_run;
    Run run = run_under_load(lane, random, seeds.size(), of_run);
    if (!run.journal) {
      lane.report(seeds.front(), of_run, *run.life);
      continue;
    }
    // In the order of the journal, so that it is applied only once.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;
    for (const std::uint64_t seed : seeds)
      cuts.emplace_back(place_of_cut(seed, run.journal->size()), seed);
    std::ranges::sort(cuts);
    for (const auto& [position, seed] : cuts) {
      cut(lane, run, seed, position, of_run);
      of_run = {};  // what the run itself saw counts once
    }
  }
}

}  // namespace faultline::faults
