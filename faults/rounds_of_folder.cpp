// The folder is taken away while a server has its files open. What the server acknowledges
// afterwards must be stored where it was told to keep it.
#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "faults/database.h"
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

std::set<std::string> lines_in(const std::filesystem::path& database) {
  std::set<std::string> lines;
  try {
    OpenedDatabase opened(database);
    opened.each("SELECT text FROM events",
                [&](sqlite3_stmt* row) { lines.emplace(text_in(row, 0)); });
  } catch (const std::exception&) {
    return {};  // no database, no lines
  }
  return lines;
}

// Counts the bodies acknowledged since `before` of which a fact is missing. A body without facts
// never counts.
std::uint64_t lost_since(const Ledger& before, const Ledger& now,
                         const std::filesystem::path& database) {
  const std::set<std::string> lines = lines_in(database);
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < now.sources.size(); ++i) {
    const SentSource& source = now.sources[i];
    for (const SentBody& body : source.bodies) {
      if (!body.acknowledged || body.begin < before.sources[i].text.size()) continue;
      const std::string_view text = source.text_of(body);
      bool held = true;
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        held = held && (kind_of(line) != LineKind::fact || lines.contains(std::string(line)));
      }
      lost += held ? 0 : 1;
    }
  }
  return lost;
}

// Everything is acknowledged and no client sends when the deed is done. Returns the ledger of then.
template <class Deed>
Ledger before(Life& life, Random& random, Verdict& verdict, const Deed& deed) {
  life.load_for(std::chrono::milliseconds(random.between(10, 60)), random, verdict);
  life.go_on_and_check(verdict);
  Ledger ledger = life.ledger();
  deed();
  return ledger;
}

void expect_nothing_lost_since(const Ledger& then, Life& life, Verdict& verdict) {
  const std::uint64_t lost = lost_since(then, life.ledger(), life.server().database());
  if (lost > 0)
    verdict.fail(
        fmt::format("LOST: of {} bodies that were acknowledged after the folder was gone, {} are "
                    "not stored",
                    acknowledged_in(life.ledger()) - acknowledged_in(then), lost));
}

}  // namespace

void removed_folder_round(Life& life, Random& random, Verdict& verdict) {
  const std::filesystem::path data = life.server().data();
  const Ledger then = before(life, random, verdict, [&] { std::filesystem::remove_all(data); });
  verdict.struck = !std::filesystem::exists(data);
  life.load_for(std::chrono::milliseconds(random.between(30, 150)), random, verdict);
  expect_nothing_lost_since(then, life, verdict);
}

void renamed_folder_round(Life& life, Random& random, Verdict& verdict) {
  const std::filesystem::path data = life.server().data();
  const std::filesystem::path away = data.string() + ".away";
  const Ledger then = before(life, random, verdict, [&] { std::filesystem::rename(data, away); });
  verdict.struck = !std::filesystem::exists(data);
  life.load_for(std::chrono::milliseconds(random.between(30, 150)), random, verdict);
  if (random.one_in(2)) return expect_nothing_lost_since(then, life, verdict);
  // The folder comes back and nothing is lost, unless the server has made a new one in its place.
  if (std::filesystem::exists(data)) return;
  std::filesystem::rename(away, data);
  if (random.one_in(2)) {
    life.go_on_and_check(verdict, true);
  } else {
    life.server().kill_now();
    life.restart_and_check(verdict);
  }
}

}  // namespace faultline::faults
