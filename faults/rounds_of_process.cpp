// What happens to the process: it is killed or stopped, lacks a resource, or its clock jumps.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include "faults/rounds.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds some_time(Random& random, std::uint64_t least, std::uint64_t most) {
  return std::chrono::milliseconds(random.between(least, most));
}

std::size_t descriptors_of(const std::filesystem::path& process) {
  std::error_code error;
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(process / "fd", error), {}));
}

}  // namespace

// Kills mostly at once, during the first commits; sometimes later, when long uploads have paused.
void kill_round(Life& life, Random& random, Verdict& verdict) {
  const auto load = life.load(random);
  std::this_thread::sleep_for(
      std::chrono::microseconds(random.between(0, random.one_in(10) ? 400'000 : 60'000)));
  life.server().kill_now();
  Life::finish(*load, verdict);
  verdict.struck = verdict.unanswered > 0;
  life.restart_and_check(verdict);
}

void freeze_round(Life& life, Random& random, Verdict& verdict) {
  const auto load = life.load(random);
  std::this_thread::sleep_for(some_time(random, 1, 40));
  verdict.struck = life.server().freeze();
  std::this_thread::sleep_for(some_time(random, 20, 150));
  const bool dies = random.one_in(3);
  if (dies)
    life.server().kill_now();
  else
    life.server().thaw();
  std::this_thread::sleep_for(some_time(random, 1, 40));
  Life::finish(*load, verdict);
  if (dies)
    life.restart_and_check(verdict);
  else
    life.go_on_and_check(verdict);
}

// Leaves the server fewer free descriptors than there are clients.
void descriptors_round(Life& life, Random& random, Verdict& verdict) {
  const std::uint64_t before = life.steering().out_of_descriptors();
  const std::size_t used = descriptors_of(fmt::format("/proc/{}", life.server().process()));
  life.server().limit(RLIMIT_NOFILE, used + random.between(0, kClients - 1));
  life.load_for(some_time(random, 60, 160), random, verdict);
  verdict.struck = life.steering().out_of_descriptors() > before;
  const bool dies = random.one_in(2);
  if (dies) life.server().kill_now();
  life.server().lift_limit(RLIMIT_NOFILE);
  if (dies)
    life.restart_and_check(verdict);
  else
    life.go_on_and_check(verdict);
}

// A server without memory may end; what it acknowledged stays.
void memory_round(Life& life, Random& random, Verdict& verdict) {
  const std::uint64_t before = life.steering().out_of_memory();
  // A few allocations fail, anywhere; in half of the rounds no more memory is given at all.
  if (random.one_in(2)) life.server().limit(RLIMIT_AS, life.server().address_space_bytes());
  life.steering().refuse_memory(kAlways / 20'000);
  const auto load = life.load(random, InternalErrors::excused);
  life.server().ends_within(some_time(random, 60, 160));
  Life::finish(*load, verdict);
  life.server().lift_limit(RLIMIT_AS);
  life.steering().relent();
  verdict.struck = life.steering().out_of_memory() > before || !life.server().lives();
  life.go_on_and_check(verdict, true);
}

namespace {

// Sends some load, until all of it is acknowledged and no client sends.
bool has_come_to_rest(Life& life, Random& random, Verdict& verdict) {
  life.load_for(some_time(random, 20, 80), random, verdict);
  life.go_on_and_check(verdict);
  return verdict.good();
}

}  // namespace

// Stored lines are read again with other rules. What was acknowledged stays, each fact once; when
// all lines have been read again, they are what the new rules make of them.
void rereading_round(Life& life, Random& random, Verdict& verdict) {
  if (!has_come_to_rest(life, random, verdict)) return;
  const bool are_facts = life.ledger().notes == Notes::unknown;
  life.know_notes(are_facts, verdict);
  life.steering().kill_in_write(static_cast<std::uint32_t>(random.between(1, 60)));
  life.reread();
  verdict.struck = life.server().ends_within(50ms);
  life.steering().relent();
  life.go_on_and_check(verdict, true);
  if (!life.reread()) verdict.fail("its lines are not read again after a restart");
  life.ledger().notes = are_facts ? Notes::facts : Notes::unknown;
  life.go_on_and_check(verdict);
}

// Every few seconds the server replaces stored calls by their summary and folds SQLite's log into
// the database; nothing else writes meanwhile.
void housekeeping_round(Life& life, Random& random, Verdict& verdict) {
  if (!has_come_to_rest(life, random, verdict)) return;
  life.steering().kill_in_write(static_cast<std::uint32_t>(random.between(1, 120)));
  verdict.struck = life.server().ends_within(6500ms);
  life.steering().relent();
  life.go_on_and_check(verdict, true);
}

// The wall clock jumps, as by a step of NTP or with an empty battery.
void clock_round(Life& life, Random& random, Verdict& verdict) {
  using std::chrono::hours;
  constexpr std::array<std::chrono::seconds, 7> kJumps = {
      -10s, 10s, hours(-1), hours(1), hours(-24 * 30), hours(24 * 30), hours(-24 * 365 * 20)};
  const std::uint64_t before = life.steering().shifted_readings();
  const auto load = life.load(random);
  for (int jumps = 0; jumps < 3; ++jumps) {
    std::this_thread::sleep_for(some_time(random, 5, 40));
    life.steering().shift_clock(random.one_of(kJumps));
  }
  std::this_thread::sleep_for(some_time(random, 5, 40));
  const bool dies = random.one_in(2);
  if (dies) life.server().kill_now();
  Life::finish(*load, verdict);
  verdict.struck = life.steering().shifted_readings() > before;
  if (dies)
    life.restart_and_check(verdict);
  else
    life.go_on_and_check(verdict);
}

// A second server must not start, since two would overwrite each other's log; not even if somebody
// has deleted the lock file.
void second_server_round(Life& life, Random& random, Verdict& verdict) {
  if (random.one_in(2)) std::filesystem::remove(life.server().database().string() + ".lock");
  const std::filesystem::path folder = life.folder() / "second";
  std::filesystem::create_directories(folder);
  std::error_code ignored;
  std::filesystem::create_directory_symlink(life.server().data(), folder / "data", ignored);
  const auto load = life.load(random);
  {
    Server second(life.programs(), folder, life.steering(), false);
    verdict.struck = true;
    if (second.start()) verdict.fail("a second server starts on the folder of the first");
  }
  Life::finish(*load, verdict);
  life.go_on_and_check(verdict);
}

}  // namespace faultline::faults
