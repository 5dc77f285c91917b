// One folder and its server, over several rounds: the same server goes on from round to round, as
// it would for a user.
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

// After so long without a write the service has folded SQLite's log into the database.
inline constexpr std::chrono::milliseconds kUntilTheLogIsFolded{2300};

enum class Journal { none, kept };

class Life {
 public:
  // Makes the folder, and removes it at the end.
  Life(Programs programs, std::filesystem::path folder, Journal journal = Journal::none);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  const Programs& programs() const { return programs_; }
  Steering& steering() { return steering_; }
  Server& server() { return server_; }
  Ledger& ledger() { return ledger_; }

  // At the end, moves the folder to `place` instead, for a person to look at.
  void keep(std::filesystem::path place) { kept_at_ = std::move(place); }

  // False: the server does not start, which fails the round.
  bool start(Verdict& verdict);
  std::unique_ptr<Load> load(Random& random,
                             InternalErrors internal_errors = InternalErrors::wrong);
  // Ends the load and takes over what it saw.
  static void finish(Load& load, Verdict& verdict);
  // Some load and nothing else, for so long.
  void load_for(std::chrono::milliseconds duration, Random& random, Verdict& verdict);

  // From now on notes are facts, or are unknown lines again. reread() reads stored lines again with
  // these rules; false: that did not succeed.
  void know_notes(bool are_facts, Verdict& verdict);
  bool reread();

  // Starts the server after its end, and checks it; then sends the rest, and checks again.
  void restart_and_check(Verdict& verdict);
  // Sends the rest to a server that goes on, and checks it. Only if `may_have_ended` may the server
  // have ended by itself; then it is restarted first.
  void go_on_and_check(Verdict& verdict, bool may_have_ended = false);
  // Kills the server or not, ends the fault, and does one of these.
  void end_fault_and_check(Random& random, Verdict& verdict);

  // Sends the same logs to a server without faults: the answers must be equal.
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
