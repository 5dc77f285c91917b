#include "faults/flips.h"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "faults/answers.h"

namespace faultline::faults {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kFlipsOfADatabase = 100;
constexpr auto kLoad = 250ms;

struct Flip {
  std::uint64_t byte = 0;
  unsigned bit = 0;
};

void flip_in(const fs::path& file, const Flip& flip) {
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  bytes.seekg(static_cast<std::streamoff>(flip.byte));
  const int was = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(flip.byte));
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

// A database that was closed properly, with nothing left in the log beside it, and a server's
// answers from it.
class Original {
 public:
  Original(Lane& lane, Random& random, Verdict& verdict)
      : life_(lane.programs(), lane.folder()), pristine_(life_.folder() / "pristine.db") {
    if (!life_.start(verdict)) return;
    life_.load_for(kLoad, random, verdict);
    life_.go_on_and_check(verdict);
    if (life_.server().stop() != 0) verdict.fail("the server does not stop properly");
    fs::copy_file(life_.server().database(), pristine_);
    jobs_ = jobs_of(life_.ledger());
    answers_ = serve(verdict);
    // An answer that differs without a flip would be blamed on one.
    verdict.fail_with(differences(answers_, serve(verdict)));
  }

  Life& life() { return life_; }

  void try_flip(Random& random, Verdict& verdict) {
    const Flip flip{.byte = random.between(0, fs::file_size(pristine_) - 1),
                    .bit = static_cast<unsigned>(random.between(0, 7))};
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
    const std::string where = fmt::format("bit {} of byte {}", flip.bit, flip.byte);
    if (!serves)
      return verdict.fail(fmt::format("{}: the server neither starts nor reports damage: {}", where,
                                      life_.server().messages()));
    for (const std::string& difference : differences(answers_, answers))
      verdict.fail(fmt::format("{}: UNNOTICED: {}", where, difference));
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
  std::unique_ptr<Original> original;
  std::size_t flips = 0;
  while (const auto seed = lane.next_seed()) {
    Random random(*seed);
    Verdict verdict;
    if (!original || flips >= kFlipsOfADatabase) {
      original.reset();
      original = std::make_unique<Original>(lane, random, verdict);
      flips = 0;
    }
    if (verdict.good()) original->try_flip(random, verdict);
    ++flips;
    lane.report(*seed, verdict, original->life());
  }
}

}  // namespace faultline::faults
