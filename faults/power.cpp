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
// disk. Every second run is short and has no rest.
Run run_under_load(Lane& lane, std::uint64_t number, Verdict& verdict) {
  const bool rests = number % 2 == 1;
  Random random(number, Use::shared);
  Run run{.life = std::make_unique<Life>(lane.programs(), lane.folder(), Journal::kept)};
  Life& life = *run.life;
  if (lane.syncs_lie()) life.steering().let_syncs_lie();
  const auto some_load = [&] { life.load_for(rests ? 1000ms : 360ms, random, verdict); };
  if (!life.start(verdict)) return run;
  some_load();
  if (rests) {
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

// Where the power goes: anywhere, but more often than by chance while the database is made. A share
// of the journal, whose length differs a little between runs that make the same choices.
struct Place {
  bool while_it_is_made = false;
  std::uint64_t millionths = 0;

  std::uint64_t in(std::uint64_t journal_bytes) const {
    constexpr std::uint64_t kWhileItIsMade = 256 << 10;
    const std::uint64_t of =
        while_it_is_made ? std::min(journal_bytes, kWhileItIsMade) : journal_bytes;
    return of * millionths / 1'000'000;
  }
};

Place place_of_cut(std::uint64_t seed) {
  Random random(seed, Use::place);
  return {.while_it_is_made = random.one_in(8), .millionths = random.between(0, 1'000'000)};
}

// Applies the journal up to the cut, which is not before `position` and where something is
// unsynced. False: there is no such place.
bool go_on_to(Run& run, std::uint64_t position) {
  while (run.journal->position() < position || !run.disk.has_unsynced())
    if (!run.journal->apply_next(run.disk)) return run.disk.has_unsynced();
  return true;
}

void cut(Lane& lane, Run& run, std::uint64_t seed, Verdict verdict) {
  Random random(seed, Use::remains);
  const Place place = place_of_cut(seed);
  verdict.choice =
      fmt::format("cut at {} millionths of {} of run {}", place.millionths,
                  place.while_it_is_made ? "the beginning" : "the journal", seed / kCutsOfARun);
  verdict.struck = go_on_to(run, place.in(run.journal->size()));
  Life after(lane.programs(), lane.folder().string() + "-cut");
  run.disk.leave_behind(after.server().data(), random);
  // A copy, for a person who has to find out why the round failed.
  std::filesystem::copy(after.server().data(), after.folder() / "data-after-the-cut",
                        std::filesystem::copy_options::recursive);
  after.ledger() = run.life->ledger().as_of(run.journal->position());
  after.restart_and_check(verdict);
  if (!verdict.good())
    verdict.fail(fmt::format("({}: at byte {} of {})", verdict.choice, run.journal->position(),
                             run.journal->size()));
  lane.report(seed, verdict, after);
}

}  // namespace

void run_power_cuts(Lane& lane) {
  for (auto seeds = lane.next_seeds(kCutsOfARun); !seeds.empty();
       seeds = lane.next_seeds(kCutsOfARun)) {
    Verdict of_run;
    Run run = run_under_load(lane, seeds.front() / kCutsOfARun, of_run);
    if (!run.journal) {
      lane.report(seeds.front(), of_run, *run.life);
      continue;
    }
    // In the order of the journal, so that it is applied only once.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;
    for (const std::uint64_t seed : seeds)
      cuts.emplace_back(place_of_cut(seed).in(run.journal->size()), seed);
    std::ranges::sort(cuts);
    for (const auto& [position, seed] : cuts) {
      cut(lane, run, seed, of_run);
      of_run = {};  // what the run itself saw counts once
    }
  }
}

}  // namespace faultline::faults
