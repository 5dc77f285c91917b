// A real disk, a small tmpfs, that is really full or read-only.
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
#include "faults/doors.h"
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
    // Detached, since a process may still have files open there.
    if (mounted_) umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

  void make_room() { mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT, "size=256m"); }
  // False: something still has a file open for writing.
  bool make_read_only() {
    return mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  void make_writable() { mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT, nullptr); }

 private:
  std::filesystem::path place_;
  bool mounted_ = false;
};

// Writes another program's file, which leaves only this much room.
void fill(const std::filesystem::path& file, std::uintmax_t room) {
  const std::string block(4096, 'x');
  std::ofstream out(file, std::ios::binary);
  while (std::filesystem::space(file).available > room &&
         out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

bool is_ready(const Server& server) { return get(server.port(), "/readyz").status == 200; }

// The server looks at the disk only from time to time, but must notice room within this time.
bool becomes_ready(const Server& server) {
  constexpr auto kLongest = 60s;
  for (const auto end = SteadyClock::now() + kLongest; SteadyClock::now() < end;
       std::this_thread::sleep_for(10ms))
    if (is_ready(server)) return true;
  return false;
}

// Sends the next body of a source, or again the one that was not acknowledged.
bool takes_a_body(Life& life, Random& random) {
  SentSource& source = life.ledger().sources.front();
  if (source.unacknowledged() == nullptr) source.add_body(200);
  SentBody& body = *source.unacknowledged();
  Client client(life.server().port());
  body.acknowledged = client.send(shipment_of(source, body), Way::whole, random).status == 200;
  return body.acknowledged;
}

// Whether the server says that it is ready although it refuses bodies just before and after.
bool calls_itself_ready_in_vain(Life& life, Random& random) {
  constexpr auto kGrace = 1s;        // the server need not look at the disk all the time
  constexpr auto kLongest = 3500ms;  // the log is folded meanwhile, which changes the room
  const auto begin = SteadyClock::now();
  while (SteadyClock::now() < begin + kLongest) {
    const bool refused = !takes_a_body(life, random);
    const bool ready = is_ready(life.server());
    if (SteadyClock::now() > begin + kGrace && refused && ready && !takes_a_body(life, random))
      return true;
    // Ask as rarely as a load balancer: each request writes a little, which takes room.
    std::this_thread::sleep_for(300ms);
  }
  return false;
}

// Runs the server on a small disk, and kills it before the disk goes.
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

// A disk that the kernel made read-only after an error. A server that starts on it ends and says
// why; once the disk can be written again, everything acknowledged is there.
void read_only_start_round(Life& life, Random& random, Verdict& verdict) {
  on_small_disk(life, 64 << 10, verdict, [&](SmallDisk& disk) {
    life.load_for(std::chrono::milliseconds(random.between(20, 120)), random, verdict);
    if (random.one_in(2))
      life.server().stop();
    else
      life.server().kill_now();
    verdict.struck = disk.make_read_only();
    if (!verdict.struck) return;
    constexpr auto kLongestStart = 60s;
    const bool starts = life.server().start(kLongestStart);
    const std::string said = life.server().messages();
    if (starts || life.server().lives())
      verdict.fail(fmt::format("it starts on a read-only disk, and says: {}", said));
    else if (said.find(life.server().database()) == std::string::npos)
      verdict.fail(fmt::format("it does not say which file it cannot write, but: {}", said));
    life.server().kill_now();
    disk.make_writable();
    life.restart_and_check(verdict);
  });
}

// A server that refuses bodies must not call itself ready, or a load balancer sends more.
void readiness_round(Life& life, Random& random, Verdict& verdict) {
  life.server().keep_free("64KB");
  on_small_disk(life, 8 << 10, verdict, [&](SmallDisk&) {
    life.load_for(std::chrono::milliseconds(random.between(0, 60)), random, verdict);
    const std::filesystem::path filler = life.server().data() / "filler";
    fill(filler, random.between(8, 32) * 4096);
    constexpr int kMoreThanThereIsRoomFor = 50;
    for (int bodies = 0; bodies < kMoreThanThereIsRoomFor && !verdict.struck; ++bodies)
      verdict.struck = !takes_a_body(life, random);
    if (calls_itself_ready_in_vain(life, random))
      verdict.fail("/readyz is 200 on a full disk, although bodies are refused");
    std::filesystem::remove(filler);
    if (!becomes_ready(life.server())) verdict.fail("/readyz stays 503 when there is room again");
    life.go_on_and_check(verdict);
  });
}

}  // namespace faultline::faults
