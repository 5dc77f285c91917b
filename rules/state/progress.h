// Progress: which process is which rank of which communicator, and how far each has come.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/batch.h"
#include "rules/state/history.h"
#include "rules/state/line_ref.h"
#include "rules/state/process_key.h"
#include "rules/state/recent_calls.h"

namespace faultline {

// One rank of one communicator: the lifetime of a communicator pointer in a process.
struct Member {
  ProcessKey process;
  std::string host;         // as its lines name it, else as the sender does; empty: not known
  std::string sender_host;  // as the sender says: lines from a container name the container
  std::int64_t pid = 0;     // 0: not known
  int device = -1;          // NCCL's [n]
  std::uint64_t pointer = 0;
  int nranks = 0;
  int launcher_rank = -1;    // from a launcher's prefix, or from the sender
  std::uint32_t source = 0;  // where it was first seen

  std::optional<CommunicatorInit> init;
  bool complete = false;  // Init COMPLETE was seen
  LineRef init_line;
  std::vector<std::uint32_t> init_sources;  // sources with its Init lines; more than one: copies
  std::optional<CommunicatorEnding> ending;

  History::Place place;     // collectives entered
  bool from_start = false;  // its log was read from before its first call
  std::uint64_t point_to_point = 0;
  std::optional<std::uint64_t> first_op_count;
  std::uint64_t last_op_count = 0;
  std::uint64_t skipped_op_counts = 0;         // gaps between one line and the next
  bool op_count_moves = false;                 // in some versions and settings it never moves
  std::optional<std::uint64_t> done_op_count;  // the last call that it finished, if logs show it
  std::uint32_t calls_source = 0;              // the source that its calls come from
  std::uint32_t dated_from_s = 0;              // since 1970; RecentCall::at_ms counts from here
  std::uint64_t calls = 0;
  std::uint64_t repeated_calls = 0;  // found again in another source, and not counted
  LineRef first_line;                // the first call; its text is not kept
  LineRef last_line;                 // the last call
  RecentCalls recent;                // collectives

  // Its latest line: of a call, else of its Init.
  const LineRef& latest_line() const { return last_line.known() ? last_line : init_line; }
  bool left_cleanly() const { return ending == CommunicatorEnding::destroyed; }
};

// A deque, so that members do not move when it grows.
using Members = std::deque<Member>;

// The member that made a run of calls, and the first call that was counted. Earlier calls were
// known from another source.
struct Entered {
  std::size_t member = 0;
  std::size_t from = SIZE_MAX;  // past the last: no call was counted
};

class Progress {
 public:
  // Call it before the events and runs of a batch.
  void enter(const Batch& batch);
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);
  Entered apply(std::uint32_t source, const Source& origin, const Batch& batch, const CallRun& run);

  // In the order in which they were first seen; an index stays valid.
  const Members& members() const { return members_; }
  const History& history() const { return history_; }
  const Signature& signature(std::uint32_t symbol) const { return signatures_[symbol]; }

  // Stores what was folded so far, to continue from it. Bytes that pack() did not write are refused
  // with BadBytes. sources: the number of sources to which members may refer.
  void pack(ByteWriter& out) const;
  static Progress unpack(ByteReader& in, std::size_t sources);

 private:
  struct MemberKey {
    ProcessKey process;
    std::uint64_t pointer = 0;
    auto operator<=>(const MemberKey&) const = default;
  };

  using Current = std::map<MemberKey, std::size_t>;

  void make_current(const MemberKey& key, std::size_t index);

  std::size_t new_member(const MemberKey& key, std::uint32_t source, const Source& origin,
                         const Speaker& speaker, int nranks);
  void begin(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event,
             const CommunicatorInit& init);
  void finish_calls(const Source& origin, const Batch& batch, const CallRun& run);
  Current::iterator written_into_another_line(const MemberKey& key);
  static std::string key_of(const Signature& signature);
  std::uint32_t symbol_of(const Signature& signature);

  Members members_;
  Current current_;  // pointers are reused: the latest member counts
  // Of each process, the latest current members, ascending. Lines without a communicator ask them.
  std::map<ProcessKey, std::vector<std::size_t>> latest_;
  History history_;
  std::vector<Signature> signatures_;
  std::unordered_map<std::string, std::uint32_t> symbols_;
  std::vector<std::uint32_t> batch_symbols_;  // by the signatures of the batch that was entered
};

}  // namespace faultline
