// Writes the log of one rank in one attempt, piece by piece. Keeps only the rank's position.
#pragma once

#include <string>
#include <vector>

#include "simulate/job.h"
#include "simulate/setup_lines.h"
#include "simulate/voice.h"

namespace faultline::simulation {

class RankLog {
 public:
  RankLog(const Attempt& attempt, int rank);

  int rank() const { return rank_; }
  const Voice& voice() const { return voice_; }

  // Appends the next piece: a step of the set-up, one launch, or the last words. False: there is
  // none.
  bool next(std::string& out);

  // The time of what next() wrote last.
  Timestamp now() const { return now_; }

  // It has made all its calls; next() would write its end, which has the time end_time().
  bool ends() const { return phase_ == Phase::end; }
  Timestamp end_time() const {
    return plan_.last_words.empty() ? now_ : now_ + plan_.last_words.front().after;
  }

  // The process was killed, and what stdio still held is lost.
  bool killed() const { return plan_.killed; }

 private:
  struct Slot {
    Membership member;
    std::string tail;  // " comm 0x… [nranks=16] stream 0x…\n"
    std::uint64_t op_count = 0;
    bool boundary = false;  // its part of the ring goes through a NIC
    bool connected = false;
    std::vector<int> peers;  // that it has sent to (peer) or received from (-1 - peer)
  };
  enum class Phase { start, set_up, run, end, over };

  bool advance(std::string& out);
  void set_up_next(std::string& out);
  void run_next(std::string& out);
  void write_call(std::string& out, const Call& call);
  void count_launch(const Call* first, const Call* last);
  bool through_network(const Slot& slot, const Call& call) const;
  void finish(std::string& out);
  void say(std::string& out, const std::vector<Words>& words);
  std::uint64_t buffer();

  const Attempt& attempt_;
  const Job& job_;
  const RankPlan& plan_;
  int rank_;
  Voice voice_;
  SetupContext context_;
  std::vector<Slot> slots_;
  std::string call_prefix_;
  std::uint64_t random_;
  std::uint64_t heap_;

  Phase phase_ = Phase::start;
  int slot_ = 0;
  int stage_ = 0;
  Place at_{};
  const std::vector<Call>* calls_ = nullptr;
  std::vector<Call> scratch_;
  std::string unseen_;
  bool version_told_ = false;
  Timestamp now_;
};

}  // namespace faultline::simulation
