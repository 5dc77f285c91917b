// The calls of a rank as PyTorch counts them: process groups have names and local numbers,
// collectives and sends are counted separately, calls that are launched together are one work.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/job.h"
#include "simulate/torch_version.h"

namespace faultline::simulation {

enum class Progress { scheduled, started, completed };

struct TorchCall {
  Call call;
  Place place;
  Timestamp created;
  std::int64_t sequence = 0;  // of the group's collectives
  std::int64_t p2p_sequence = 0;
  std::int64_t operation = 0;  // of the group
  std::int64_t record = 0;     // of the process
  bool batched = false;        // a member of a batch, which has no events of its own
  bool closes = false;         // the end of a batch, which has no tensor
  Progress progress = Progress::scheduled;

  // Watchdogs count only works; a member of a batch is not one.
  bool is_work() const { return !batched; }
  std::int64_t number() const {
    return closes || is_peer_to_peer(call.function) ? p2p_sequence : sequence;
  }
};

// A process group of a rank.
struct TorchGroupState {
  int id = 0;        // among the rank's groups
  std::string name;  // the same on all ranks
  std::string_view description;
  const Communicator* communicator = nullptr;
  int rank = 0;  // in the group
  std::int64_t enqueued = -1;
  std::int64_t started = -1;
  std::int64_t completed = -1;
  std::int64_t collectives = 0;
  std::int64_t sends = 0;  // and receives
  std::int64_t operations = 0;
};

class TorchCalls {
 public:
  // Keeps the last `kept` calls.
  TorchCalls(const Attempt& attempt, int rank, std::size_t kept);

  const std::vector<TorchGroupState>& groups() const { return groups_; }
  const std::deque<TorchCall>& calls() const { return calls_; }
  // The oldest work of a group that has not completed; nullptr: all have.
  const TorchCall* stuck_in(int slot) const;
  // The same over all groups.
  const TorchCall* stuck() const;
  bool timing() const { return timing_; }

 private:
  void add_launch(const std::vector<Call>& calls, std::size_t from, std::size_t end, Place place,
                  Progress progress);
  void add(TorchCall call);

  const Attempt& attempt_;
  std::size_t kept_;
  bool timing_;
  std::vector<TorchGroupState> groups_;
  std::deque<TorchCall> calls_;
  std::int64_t records_ = 0;
  std::uint64_t random_;
};

// The number of elements as the watchdog prints it; for a batch, all bits set.
std::uint64_t elements_in(const TorchCall& call, int group_size);
std::uint64_t elements_out(const TorchCall& call, int group_size);

std::string_view watchdog_name(const TorchCall& call);             // _ALLGATHER_BASE
std::string recorder_name(const TorchCall& call, int group_rank);  // nccl:send 1->2
std::string_view dtype_name(int datatype);

struct ProgramFrame {
  std::string_view function;
  std::string file;
  int line = 0;
};

// The program's frames at a call, innermost first.
std::vector<ProgramFrame> frames_of(const TorchCall& call, Group group);

}  // namespace faultline::simulation
