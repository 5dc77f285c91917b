// Flight: what the Flight Recorders of a job's processes remembered, by the dump of each and by
// process group. Memory follows ranks, groups and the length of the rings.
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

// How far an operation came. Without timing (the default) nothing is ever seen to start: scheduled
// means no more than that its end was not seen.
enum class FlightProgress : std::uint8_t { unknown, scheduled, started, completed };

// Which numbers of an entry can be compared between ranks.
enum class FlightRole : std::uint8_t {
  collective,  // `sequence` is the same on all ranks
  p2p,         // `sequence` counts this rank's own sends and receives; peers count otherwise
  batched,     // a member of a batch of either kind; it has the progress of its batch
  batch_end,   // stands for a batch of sends and receives, whose number is `sequence`
};

struct FlightEntry {
  std::int64_t created_us = 0;  // since 1970, by the host's clock; 0: not told
  std::uint32_t sequence = 0;
  std::uint32_t record = 0;  // among all operations of its process
  std::uint32_t signature = 0;
  FlightProgress progress = FlightProgress::unknown;
  FlightRole role = FlightRole::collective;
  bool point_to_point = false;
  bool own_count = true;  // false: collectives, sends and receives are counted as one
  bool retired = false;   // the watchdog no longer looks after it
};

// What else is known of entries that had not completed, and of the last that had.
struct FlightOperation {
  std::uint32_t entry = 0;  // index into entries
  std::uint32_t stack = 0;  // of Flight::stack(); 0: none
  std::string thread;
};

// One group, as one process knows it.
struct FlightPosition {
  std::uint32_t group = 0;     // index into Flight::groups()
  std::int64_t local_id = -1;  // by which the process counts it; -1: not told
  // Where it stands, by the process's own counters; absent: not told.
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
  std::vector<FlightEntry> entries;  // the last ones, oldest first
  std::uint64_t forgotten = 0;       // entries of the dump before them that are not kept
  std::vector<FlightOperation> operations;
  LineRef line;

  const FlightOperation* operation(std::size_t entry) const;  // nullptr: nothing more is known
};

// The counters of a group whose name the dump does not tell: it has no entries of it. Groups are
// counted as they are made, so ranks that made the same ones know them by the same number.
struct FlightCounters {
  std::int64_t local_id = -1;
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
};

// The dump of one process.
struct FlightDump {
  std::uint32_t source = 0;
  std::string host;             // as the sender says; empty: not said
  int said_rank = -1;           // by the sender
  int named_rank = -1;          // by the file's name
  std::vector<int> candidates;  // which ranks it can be, by the groups it is in; ascending
  bool any_rank = true;         // it is in no group whose members are known: no candidates either
  bool conflict = false;        // its groups have no rank in common
  FlightRecorderDump about;
  std::vector<FlightPosition> positions;
  std::vector<FlightCounters> nameless;
  bool timing = false;         // something was seen to start: then scheduled means not started
  std::int64_t newest_us = 0;  // the youngest thing in it; 0: nothing has a time
  LineRef line;

  // The global rank. What the sender says or the name tells counts unless the groups forbid it.
  int rank() const;
  const FlightPosition* position(std::uint32_t group) const;  // nullptr: it never used it
};

// A process group, as all ranks together know it.
struct FlightGroup {
  std::string name;  // empty, in the oldest versions: local_id tells it, if all ranks made the same
  std::string description;
  std::int64_t local_id = -1;  // only where there is no name
  std::vector<int> members;    // global ranks, ascending; empty: not told
};

// The global rank in a file's name: nccl_trace_rank_7, _dump_7, rank_3.json. -1: there is none.
int rank_in_name(std::string_view name);

class Flight {
 public:
  void apply(std::uint32_t source, const Source& origin, const Event& event);

  // In the order in which they began. Later dumps of a rank do not replace earlier ones of another
  // source.
  const std::vector<FlightDump>& dumps() const { return dumps_; }

  // For each rank its youngest dump that could be read; indices into dumps(), by rank. Of rank -1
  // there may be several: nobody knows whose they are.
  std::multimap<int, std::size_t> latest() const;

  // By source, why the last dump in it was not read.
  std::map<std::uint32_t, std::string> refusals() const;

  const std::vector<FlightGroup>& groups() const { return groups_; }
  const FlightSignature& signature(std::uint32_t symbol) const { return signatures_[symbol]; }
  // Innermost frame first, a line each; "": none was recorded.
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
  std::map<std::uint32_t, std::size_t> current_;  // by source: the dump whose groups come now
  std::vector<FlightGroup> groups_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> group_index_;  // name and members
  std::vector<FlightSignature> signatures_;
  std::unordered_map<std::string, std::uint32_t> symbols_;
  std::vector<std::string> stacks_ = {std::string()};
  std::unordered_map<std::string, std::uint32_t> stack_index_;
};

}  // namespace faultline
