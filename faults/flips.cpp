#include "faults/flips.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <vector>

#include "faults/answers.h"
#include "faults/client.h"
#include "faults/doors.h"
#include "faults/load.h"

namespace faultline::faults {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFlipsOfADatabase = 100;
constexpr int kBodies = 25;

// Which bit: a share of the file, whose size differs a little if the server was slow.
struct Flip {
  std::uint64_t billionths = 0;
  unsigned bit = 0;

  std::uint64_t byte_in(std::uint64_t size) const { return size * billionths / 1'000'000'000; }
};

Flip flip_of(std::uint64_t seed) {
  Random random(seed, Use::place);
  return {.billionths = random.between(0, 999'999'999),
          .bit = static_cast<unsigned>(random.between(0, 7))};
}

void flip_in(const fs::path& file, const Flip& flip) {
  const auto byte = static_cast<std::streamoff>(flip.byte_in(fs::file_size(file)));
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  bytes.seekg(byte);
  const int was = bytes.get();
  bytes.seekp(byte);
  bytes.put(static_cast<char>(was ^ (1 << flip.bit)));
}

// Whether a text says that the database is damaged.
bool names_damage(const std::string& text) {
  return text.find("damage") != std::string::npos ||
         text.find("not a Faultline database") != std::string::npos;
}

bool is_damage_named(const Answers& answers) {
  for (const auto& [path, text] : answers)
    if (!text.starts_with("200 ") && names_damage(text)) return true;
  return false;
}

// One body after the other, so that the same seed makes the same database, but for the times in it
// and for what a slow server tidies up meanwhile.
void fill(Life& life, Random& random, Verdict& verdict) {
  Client client(life.server().port());
  for (int bodies = 0; bodies < kBodies; ++bodies) {
    const std::uint64_t number = random.between(0, life.ledger().sources.size() - 1);
    SentSource& source = life.ledger().sources[number];
    source.add_body(random.one_in(8) ? random.between(60, 200) : random.between(1, 12));
    SentBody& body = *source.unacknowledged();
    const Way way = random.one_of(std::array{Way::whole, Way::gzip, Way::pieces});
    const Answer answer = client.send(shipment_of(source, body), way, random);
    body.acknowledged = taken(answer, source, body) == Taken::all;
    if (!body.acknowledged) return verdict.fail("without a fault: " + judge(answer, source, body));
    ++verdict.acknowledged;
  }
}

// A database that was closed properly, with nothing left in the log beside it, and a server's
// answers from it.
class Original {
 public:
  Original(Lane& lane, Random& random, Verdict& verdict)
      : life_(lane.programs(), lane.folder()), pristine_(life_.folder() / "pristine.db") {
    if (!life_.start(verdict)) return;
    fill(life_, random, verdict);
    life_.go_on_and_check(verdict);
    if (life_.server().stop() != 0) verdict.fail("the server does not stop properly");
    fs::copy_file(life_.server().database(), pristine_);
    jobs_ = jobs_of(life_.ledger());
    answers_ = serve(verdict);
    // An answer that differs without a flip would be blamed on one.
    verdict.fail_with(differences(answers_, serve(verdict)));
  }

  Life& life() { return life_; }

  void try_flip(std::uint64_t seed, Verdict& verdict) {
    const Flip flip = flip_of(seed);
    verdict.choice = fmt::format("bit {} at {} billionths of database {}", flip.bit,
                                 flip.billionths, seed / kFlipsOfADatabase);
    put_back();
    flip_in(life_.server().database(), flip);
    verdict.struck = true;
    ++verdict.checks;
    const bool serves = life_.server().start();
    Answers answers;
    if (serves) answers = answers_of(life_.server().port(), jobs_, Forget::asking);
    life_.server().kill_now();
    const bool named = names_damage(life_.server().messages());
    if (named || (serves && is_damage_named(answers))) return;
    const std::uint64_t size = fs::file_size(pristine_);
    const std::string where =
        fmt::format("bit {} of byte {} of {}", flip.bit, flip.byte_in(size), size);
    if (!serves)
      return verdict.fail(fmt::format("{}: the server neither starts nor reports damage: {}", where,
                                      life_.server().messages()));
    const std::vector<std::string> unnoticed = differences(answers_, answers);
    if (unnoticed.empty()) return;
    verdict.fail(
        fmt::format("{}: UNNOTICED, the server says: {}", where, life_.server().messages()));
    verdict.fail_with(unnoticed);
  }

 private:
  void put_back() {
    fs::remove_all(life_.server().data());
    fs::create_directories(life_.server().data());
    fs::copy_file(pristine_, life_.server().database());
  }

  Answers serve(Verdict& verdict) {
    put_back();
    Answers answers;
    if (life_.start(verdict)) answers = answers_of(life_.server().port(), jobs_, Forget::asking);
    life_.server().kill_now();
    return answers;
  }

  Life life_;
  fs::path pristine_;
  std::vector<std::string> jobs_;
  Answers answers_;
};

}  // namespace

void run_flips(Lane& lane) {
  for (auto seeds = lane.next_seeds(kFlipsOfADatabase); !seeds.empty();
       seeds = lane.next_seeds(kFlipsOfADatabase)) {
    Random random(seeds.front() / kFlipsOfADatabase, Use::shared);
    Verdict verdict;
    Original original(lane, random, verdict);
    const bool usable = verdict.good();
    for (const std::uint64_t seed : seeds) {
      if (usable) original.try_flip(seed, verdict);
      lane.report(seed, verdict, original.life());
      verdict = {};  // what the database itself showed counts once
    }
  }
}

}  // namespace faultline::faults
