// Makes one event of what lines say over and over again: connections of each channel, settings of
// each communicator, a tool's reports on one rank, storms of a GPU's Xids.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ingest/call_collector.h"
#include "model/batch.h"

namespace faultline {

class RepeatFilter {
 public:
  // True: the batch or the source has an event already that now stands for this fact, too.
  // False: the fact needs an event, and the caller appends it to the batch next.
  bool swallows(Batch& batch, std::uint32_t speaker, const EventTime& time, const LinePlace& line,
                Fact& fact);

  // The batch was taken. The settings of the source stay known.
  void reset();

 private:
  // More than the settings of a thousand processes. Beyond that it starts anew: a repeated setting
  // costs one more event, and nothing worse.
  static constexpr std::size_t kMostSettings = 1 << 16;

  bool swallows(const Speaker& speaker, const Setting& setting);
  bool swallows(Batch& batch, std::uint32_t speaker, const PeerConnection& connection);
  bool swallows(Batch& batch, std::uint32_t speaker, const EventTime& time, const LinePlace& line,
                RankReport& report);
  bool swallows(Batch& batch, std::uint32_t speaker, const EventTime& time, const LinePlace& line,
                GpuXid& xid);
  // If a rank raises or says the same again and again, only the first and the last time matter.
  bool swallows(Batch& batch, std::uint32_t speaker, const EventTime& time, const LinePlace& line,
                PythonException& exception);
  bool swallows(Batch& batch, std::uint32_t speaker, const EventTime& time, const LinePlace& line,
                Remark& remark);

  // A batch keeps the first lines of a storm, and the last, which stands for all in between.
  // Returns the index of that last event; nothing: the line needs its own event. same: whether an
  // event's fact says the same as this line.
  template <class Same>
  std::optional<std::uint32_t> last_of_storm(const Batch& batch, std::uint32_t speaker,
                                             std::uint64_t hash, Same same);
  std::uint32_t& communicators_of(std::uint32_t speaker, std::int64_t thread);

  std::unordered_set<std::uint64_t> settings_;  // hashes
  // Indices into the batch's events.
  IndexTable connections_;
  IndexTable reports_;

  // Lines that say the same, of one process.
  struct Storm {
    std::uint32_t last = 0;  // index into the batch's events
    std::uint32_t kept = 0;
  };
  IndexTable storm_table_;
  std::vector<Storm> storms_;

  // How many communicators a thread has begun: later connections belong to another one.
  struct Thread {
    std::uint32_t speaker = 0;
    std::int64_t thread = 0;
    std::uint32_t communicators = 0;
  };
  IndexTable thread_table_;
  std::vector<Thread> threads_;
  std::uint32_t last_thread_ = 0;  // most lines are by the thread of the line before
};

}  // namespace faultline
