// The folder is taken away while a server has its files open. The server must not acknowledge
// anything any more, whatever the lines say.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <thread>

#include "faults/rounds.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;

std::uint64_t acknowledged_in(const Ledger& ledger) {
  std::uint64_t all = 0;
  for (const SentSource& source : ledger.sources)
    for (const SentBody& body : source.bodies) all += body.acknowledged ? 1 : 0;
  return all;
}

// Everything is acknowledged and no client sends when the deed is done. A body that is acknowledged
// afterwards is stored nowhere, or where nobody will look for it, whatever its lines are.
template <class Deed>
void load_before_and_after(Life& life, Random& random, Verdict& verdict, const Deed& deed) {
  life.load_for(std::chrono::milliseconds(random.between(10, 60)), random, verdict);
  life.go_on_and_check(verdict);
  const std::uint64_t then = acknowledged_in(life.ledger());
  deed();
  verdict.struck = !std::filesystem::exists(life.server().data());
  life.load_for(std::chrono::milliseconds(random.between(30, 150)), random, verdict);
  const std::uint64_t now = acknowledged_in(life.ledger());
  if (now > then)
    verdict.fail(
        fmt::format("LOST: {} bodies were acknowledged after the folder was gone", now - then));
}

}  // namespace

void removed_folder_round(Life& life, Random& random, Verdict& verdict) {
  load_before_and_after(life, random, verdict,
                        [&] { std::filesystem::remove_all(life.server().data()); });
}

void renamed_folder_round(Life& life, Random& random, Verdict& verdict) {
  const std::filesystem::path data = life.server().data();
  const std::filesystem::path away = data.string() + ".away";
  load_before_and_after(life, random, verdict, [&] { std::filesystem::rename(data, away); });
  // The folder comes back and nothing is lost, unless the server has made a new one in its place.
  if (random.one_in(2) || std::filesystem::exists(data)) return;
  std::filesystem::rename(away, data);
  if (random.one_in(2)) {
    life.go_on_and_check(verdict, true);
  } else {
    life.server().kill_now();
    life.restart_and_check(verdict);
  }
}

}  // namespace faultline::faults
