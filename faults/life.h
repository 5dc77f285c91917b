// One folder and who serves from it, over as many rounds as it lasts: the same server goes on from
// round to round, as it would for a user.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "faults/ledger.h"
#include "faults/load.h"
#include "faults/random.h"
#include "faults/server.h"
#include "faults/steering.h"
#include "faults/verdict.h"

namespace faultline::faults {

// When nothing was written for so long, the service has folded SQLite's log into the database.
inline constexpr std::chrono::milliseconds kUntilTheLogIsFolded{2300};

enum class Journal { none, kept };

class Life {
 public:
  // The folder is made, and gone at the end unless keep() was called.
  Life(Programs programs, std::filesystem::path folder, Journal journal = Journal::none);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  const Programs& programs() const { return programs_; }
  Steering& steering() { return steering_; }
  Server& server() { return server_; }
  Ledger& ledger() { return ledger_; }

  // Moves the folder there, for a person to look at, when the life ends.
  void keep(std::filesystem::path place) { kept_at_ = std::move(place); }

  // False, and a failure of the round: it does not start.
  bool start(Verdict& verdict);
  std::unique_ptr<Load> load(Random& random,
                             InternalErrors internal_errors = InternalErrors::wrong);
  // Ends the load and takes over what it saw.
  static void finish(Load& load, Verdict& verdict);
  // Some load and nothing else, for so long.
  void load_for(std::chrono::milliseconds duration, Random& random, Verdict& verdict);

  // From now on notes are facts, or nobody knows them any more. What was stored before is read
  // again by reread(), which is false if that did not succeed.
  void know_notes(bool are_facts, Verdict& verdict);
  bool reread();

  // Starts after the server has ended, and compares; then sends the rest, and compares again.
  void restart_and_check(Verdict& verdict);
  // The same of a server that goes on. It may have ended by itself only if `may_have_ended`.
  void go_on_and_check(Verdict& verdict, bool may_have_ended = false);
  // Either of these.
  void end_fault_and_check(Random& random, Verdict& verdict);

  // The same logs to a server that nothing befalls: the diagnoses must be equal.
  void compare_with_twin(Verdict& verdict);

 private:
  void send_the_rest_and_check(Verdict& verdict);

  Programs programs_;
  std::filesystem::path folder_;
  std::filesystem::path kept_at_;
  Steering steering_;
  Server server_;
  Ledger ledger_ = empty_ledger();
};

}  // namespace faultline::faults
