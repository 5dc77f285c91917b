// Torch: what PyTorch, Python and launchers said about each rank: how far it came, what it waited
// for, what it raised, how it ended. The signatures explain texts later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct TorchTimeout {
  WatchdogTimeout timeout;
  LineRef line;
};

// The last status of a rank in a group.
struct TorchStanding {
  std::string description;
  int group_rank = -1;
  std::optional<std::int64_t> enqueued;
  std::optional<std::int64_t> completed;
  LineRef line;
};

// An exception, or a line that a signature asked for.
struct TorchSaying {
  std::optional<PythonException> exception;
  std::string text;  // "ValueError: ...", as the signatures see it
  LineRef line;
  LineRef last;  // where it last occurred
};

struct TorchRank {
  int rank = -1;         // -1: no label says it
  bool guessed = false;  // its lines give only its rank in a group
  std::string host;      // as its lines name it; empty: not known
  std::uint32_t source = 0;
  std::vector<TorchTimeout> timeouts;              // in order
  std::map<std::string, TorchStanding> standings;  // by the group's name
  std::optional<LineRef> signalled;                // it was told of another rank's timeout
  int told_by = -1;
  std::optional<LineRef> stuck;  // its watchdog was stuck
  bool gil = false;              // because Python's lock (GIL) was held
  std::vector<TorchSaying> said;
};

template <class Fact>
struct TorchLine {
  Fact fact;
  LineRef line;
};

class Torch {
 public:
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);

  // By rank; lines without a rank come first, by source.
  std::vector<const TorchRank*> ranks() const;
  std::uint64_t left_out() const { return left_out_; }  // lines of ranks over the limit

  // In the order in which they came.
  const std::vector<TorchLine<ProcessExit>>& exits() const { return exits_; }
  const std::vector<TorchLine<CalledCollective>>& called() const { return called_; }
  const std::vector<TorchLine<DesyncEntry>>& desync() const { return desync_; }
  const std::vector<TorchLine<BarrierMissed>>& barriers() const { return barriers_; }
  const std::vector<TorchLine<UnusedParameters>>& unused() const { return unused_; }
  // For each process, the latest stack of its main thread.
  const std::vector<TorchLine<StackTop>>& stacks() const { return stacks_; }

  bool empty() const { return ranks_.empty() && exits_.empty() && called_.empty(); }

 private:
  // A rank, or the source of lines without a rank.
  using Key = std::pair<int, std::string>;  // the rank, else the source

  TorchRank* rank_at(std::uint32_t source, const Source& origin, const Speaker& speaker,
                     const TorchGroup& group);
  void add_timeout(TorchRank& rank, const WatchdogTimeout& timeout, LineRef line);
  bool repeats(std::uint32_t source, const WatchdogTimeout& timeout) const;
  void say(TorchRank& rank, std::string text, const PythonException* exception, LineRef line);
  void keep_stack(StackTop stack, LineRef line);

  std::map<Key, TorchRank> ranks_;
  // Of the timeouts of ranks that labels name: source, sequence and operation.
  std::set<std::tuple<std::uint32_t, std::optional<std::uint64_t>, std::string>> labelled_timeouts_;
  std::uint64_t left_out_ = 0;
  std::vector<TorchLine<ProcessExit>> exits_;
  std::vector<TorchLine<CalledCollective>> called_;
  std::vector<TorchLine<DesyncEntry>> desync_;
  std::vector<TorchLine<BarrierMissed>> barriers_;
  std::vector<TorchLine<UnusedParameters>> unused_;
  std::vector<TorchLine<StackTop>> stacks_;
  std::size_t whole_tracebacks_ = 0;
  std::size_t exited_ranks_ = 0;
};

}  // namespace faultline
