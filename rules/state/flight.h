// Flight: the Flight Recorder dumps of a job, by process and by process group. Memory grows with
// ranks, groups and the length of the rings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"

namespace faultline {

// How far an operation came. Without timing (the default), no start is recorded: `scheduled` then
// only means that its end was not seen.
enum class FlightProgress : std::uint8_t { unknown, scheduled, started, completed };

// Which numbers of an entry can be compared between ranks.
enum class FlightRole : std::uint8_t {
  collective,  // `sequence` is the same on all ranks
  p2p,         // `sequence` counts this rank's own Sends and Recvs, not its peers'
  batched,     // a member of a batch of either kind, with the progress of its batch
  batch_end,   // the end of a batch of Sends and Recvs, whose number is `sequence`
};

struct FlightEntry {
  std::int64_t created_us = 0;  // since 1970, by the host's clock; 0: not known
  std::uint32_t sequence = 0;
  std::uint32_t record = 0;  // among all operations of its process
  std::uint32_t signature = 0;
  FlightProgress progress = FlightProgress::unknown;
  FlightRole role = FlightRole::collective;
  bool point_to_point = false;
  bool own_count = true;  // false: collectives, Sends and Recvs share one count
  bool retired = false;   // the watchdog no longer watches it
};

// More about entries that had not completed, and about the last one that had.
struct FlightOperation {
  std::uint32_t entry = 0;  // index into entries
  std::uint32_t stack = 0;  // for Flight::stack(); 0: none
  std::string thread;
};

// One group, as one process knows it.
struct FlightPosition {
  std::uint32_t group = 0;     // index into Flight::groups()
  std::int64_t local_id = -1;  // the process's number for the group; -1: not known
  // The process's own counters; absent: not known.
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
  std::vector<FlightEntry> entries;  // the last ones, oldest first
  std::uint64_t forgotten = 0;       // earlier entries of the dump that are not kept
  std::vector<FlightOperation> operations;
  LineRef line;

  const FlightOperation* operation(std::size_t entry) const;  // nullptr: no more is known
};

// The counters of a group that the dump does not name, because it has no entries of it. Groups are
// numbered in the order of their creation, so ranks that created the same groups use the same
// numbers.
struct FlightCounters {
  std::int64_t local_id = -1;
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
};

// The dump of one process.
struct FlightDump {
  std::uint32_t source = 0;
  std::string host;             // as the sender says; empty: not known
  int said_rank = -1;           // as the sender says; -1: not known
  int named_rank = -1;          // by the name of the file; -1: not known
  std::vector<int> candidates;  // ranks that it can be, by its groups; ascending
  bool any_rank = true;         // no members of its groups are known, so there are no candidates
  bool conflict = false;        // its groups have no rank in common
  FlightRecorderDump about;
  std::vector<FlightPosition> positions;
  std::map<std::uint32_t, std::size_t> position_of;  // by group: the first of the positions
  bool names_groups = false;                         // the members of one of its groups are known
  bool has_first_call = false;  // a position begins with the first call of its process
  std::vector<FlightCounters> nameless;
  bool timing = false;         // starts are recorded, so scheduled means not started
  std::int64_t newest_us = 0;  // the latest time in it; 0: it has none
  LineRef line;

  // The global rank: the sender's, or else the file name's, unless the groups rule it out. -1: not
  // known.
  int rank() const;
  const FlightPosition* position(std::uint32_t group) const;  // nullptr: it never used the group
};

// A process group, as all ranks together know it.
struct FlightGroup {
  // empty in the oldest versions; then local_id identifies it, if all ranks created the same groups
  std::string name;
  std::string description;
  std::int64_t local_id = -1;  // only if there is no name
  std::vector<int> members;    // global ranks, ascending; empty: not known
};

// The global rank in the name of a file: nccl_trace_rank_7, _dump_7, rank_3.json. -1: there is
// none.
int rank_in_name(std::string_view name);

class Flight {
 public:
  void apply(std::uint32_t source, const Source& origin, const Event& event);

  // In the order in which they began. A later dump of a rank does not replace one from another
  // source.
  const std::vector<FlightDump>& dumps() const { return dumps_; }

  // By rank: its latest dump that could be read; indices into dumps(). Rank -1 may have several:
  // their ranks are not known.
  std::multimap<int, std::size_t> latest() const;

  // By source: why its last dump was not read.
  std::map<std::uint32_t, std::string> refusals() const;

  const std::vector<FlightGroup>& groups() const { return groups_; }
  const FlightSignature& signature(std::uint32_t symbol) const { return signatures_[symbol]; }
  // Innermost frame first, one per line; "": none was recorded.
  const std::string& stack(std::uint32_t symbol) const { return stacks_[symbol]; }

 private:
  void begin(std::uint32_t source, const Source& origin, const FlightRecorderDump& about,
             LineRef line);
  void add(FlightDump& dump, const FlightRecorderGroup& group, LineRef line);
  std::optional<int> add_entries(FlightDump& dump, FlightPosition& position,
                                 const FlightRecorderGroup& group);
  void add_operations(FlightDump& dump, FlightPosition& position, const FlightRecorderGroup& group);
  std::uint32_t group_of(const FlightRecorderGroup& group);
  std::uint32_t symbol_of(const FlightSignature& signature);
  std::uint32_t stack_of(const std::string& stack);

  std::vector<FlightDump> dumps_;
  // by source: the dump to which the next groups belong
  std::map<std::uint32_t, std::size_t> current_;
  std::vector<FlightGroup> groups_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> group_index_;  // name and members
  std::vector<FlightSignature> signatures_;
  std::unordered_map<std::string, std::uint32_t> symbols_;
  std::vector<std::string> stacks_ = {std::string()};
  std::unordered_map<std::string, std::uint32_t> stack_index_;
};

}  // namespace faultline
