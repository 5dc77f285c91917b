// Faults of the disk, made by the shim while clients send.
#include <array>
#include <cerrno>
#include <thread>

#include "faults/rounds.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds some_time(Random& random) {
  return std::chrono::milliseconds(random.between(20, 90));
}

constexpr std::chrono::seconds kLongestWait{20};

// The fault begins during load; when it is over, everything acknowledged must be there.
template <class Fault>
void disk_round(Life& life, Random& random, Verdict& verdict, const Fault& begin_fault) {
  const std::uint64_t before = life.steering().struck();
  const auto load = life.load(random);
  std::this_thread::sleep_for(some_time(random) / 4);
  begin_fault(life.steering());
  std::this_thread::sleep_for(some_time(random));
  // A slow machine may not have asked the disk for anything yet.
  for (const auto end = std::chrono::steady_clock::now() + kLongestWait;
       life.steering().struck() == before && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (random.one_in(20)) {
    load->stop();
    std::this_thread::sleep_for(kUntilTheLogIsFolded);
  } else if (random.one_in(2)) {
    // End it while clients send, so that the server recovers between refused bodies.
    life.steering().relent();
    std::this_thread::sleep_for(some_time(random) / 2);
  }
  Life::finish(*load, verdict);
  verdict.struck = life.steering().struck() > before;
  life.end_fault_and_check(random, verdict);
}

std::uint32_t some_chance(Random& random) {
  return random.one_of(std::array{kAlways, kAlways / 3, kAlways / 30});
}

}  // namespace

void full_disk_round(Life& life, Random& random, Verdict& verdict) {
  disk_round(life, random, verdict, [](Steering& steering) { steering.fill_disk(); });
}

void read_only_round(Life& life, Random& random, Verdict& verdict) {
  disk_round(life, random, verdict, [](Steering& steering) { steering.make_read_only(); });
}

void io_error_round(Life& life, Random& random, Verdict& verdict) {
  constexpr std::array kCallsOfADisk = {Call::sync,  Call::sync, Call::write,
                                        Call::write, Call::read, Call::truncate};
  disk_round(life, random, verdict, [&](Steering& steering) {
    const Call call = random.one_of(kCallsOfADisk);
    // Hardly anything is truncated under load, so another call fails with it.
    if (call == Call::truncate) steering.fail(Call::sync, EIO, kAlways / 10);
    steering.fail(call, EIO, some_chance(random));
  });
}

void short_write_round(Life& life, Random& random, Verdict& verdict) {
  disk_round(life, random, verdict, [&](Steering& steering) {
    steering.cut_writes_short(some_chance(random));
    // Other writes fail, as on a disk that fills up in the middle of a write.
    if (random.one_in(2)) steering.fail(Call::write, ENOSPC, kAlways / 10);
  });
}

void slow_disk_round(Life& life, Random& random, Verdict& verdict) {
  disk_round(life, random, verdict, [&](Steering& steering) {
    steering.slow_down(std::chrono::microseconds(random.between(500, 8000)));
  });
}

}  // namespace faultline::faults
