// A real disk that is really full: a small tmpfs.
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "faults/client.h"
#include "faults/rounds.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

class SmallDisk {
 public:
  SmallDisk(std::filesystem::path place, std::uint64_t kib) : place_(std::move(place)) {
    mounted_ =
        mount("tmpfs", place_.c_str(), "tmpfs", 0, fmt::format("size={}k", kib).c_str()) == 0;
  }
  ~SmallDisk() {
    // Who still has files open there keeps it alive and unseen.
    if (mounted_) umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

  void make_room() { mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT, "size=256m"); }

 private:
  std::filesystem::path place_;
  bool mounted_ = false;
};

// Somebody else's file, which leaves this much room.
void fill(const std::filesystem::path& file, std::uintmax_t room) {
  const std::string block(4096, 'x');
  std::ofstream out(file, std::ios::binary);
  while (std::filesystem::space(file).available > room &&
         out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

bool becomes(const Server& server, int status) {
  // A disk may be looked at once in a while, but nobody should have to wait longer than this.
  constexpr auto kLongest = 3s;
  for (const auto end = SteadyClock::now() + kLongest; SteadyClock::now() < end;
       std::this_thread::sleep_for(10ms))
    if (get(server.port(), "/readyz").status == status) return true;
  return false;
}

// A life that ends before its disk does.
template <class Deed>
void on_small_disk(Life& life, std::uint64_t kib, Verdict& verdict, const Deed& deed) {
  life.server().kill_now();
  std::filesystem::remove_all(life.server().data());
  std::filesystem::create_directories(life.server().data());
  life.ledger() = empty_ledger();
  SmallDisk disk(life.server().data(), kib);
  verdict.possible = disk.mounted();
  if (!verdict.possible || !life.start(verdict)) return;
  deed(disk);
  life.server().kill_now();
}

}  // namespace

void small_disk_round(Life& life, Random& random, Verdict& verdict) {
  on_small_disk(life, random.between(500, 1500), verdict, [&](SmallDisk& disk) {
    const std::uint64_t before = life.steering().out_of_space();
    const auto load = life.load(random);
    constexpr auto kLongest = 4s;
    for (const auto end = SteadyClock::now() + kLongest;
         SteadyClock::now() < end && life.steering().out_of_space() < before + 5;
         std::this_thread::sleep_for(5ms)) {
    }
    verdict.struck = life.steering().out_of_space() > before;
    const bool dies = random.one_in(2);
    if (dies) life.server().kill_now();
    disk.make_room();
    Life::finish(*load, verdict);
    if (dies)
      life.restart_and_check(verdict);
    else
      life.go_on_and_check(verdict);
  });
}

// Whoever is told to come again later must not be sent here by a load balancer meanwhile.
void readiness_round(Life& life, Random& random, Verdict& verdict) {
  on_small_disk(life, 8 << 10, verdict, [&](SmallDisk&) {
    life.load_for(std::chrono::milliseconds(random.between(0, 60)), random, verdict);
    const std::filesystem::path filler = life.server().data() / "filler";
    fill(filler, random.between(0, 32) * 4096);
    const auto load = life.load(random);
    constexpr auto kLongest = 5s;
    for (const auto end = SteadyClock::now() + kLongest;
         SteadyClock::now() < end && load->counts().refused < 3; std::this_thread::sleep_for(2ms)) {
    }
    Life::finish(*load, verdict);
    verdict.struck = verdict.refused > 0;
    if (!becomes(life.server(), 503)) verdict.fail("/readyz is 200 on a full disk");
    std::filesystem::remove(filler);
    if (!becomes(life.server(), 200)) verdict.fail("/readyz stays 503 when there is room again");
    life.go_on_and_check(verdict);
  });
}

}  // namespace faultline::faults
