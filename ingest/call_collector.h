// Gathers calls into the runs of a batch. Sits on the hot path: a call costs a few small hash
// look-ups and no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "parsers/nccl/nccl_call.h"

namespace faultline {

// From a hash to an index into some vector. Open addressing, because std::unordered_map allocates
// for every entry; clear() costs nothing, because it only starts a new epoch.
class IndexTable {
 public:
  IndexTable() : slots_(256) {}

  // The index under this hash for which same(index) holds; else `fresh`, which is stored.
  template <class Same>
  std::uint32_t find_or_insert(std::uint64_t hash, std::uint32_t fresh, Same&& same) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.epoch != epoch_) {
        slot = {hash, fresh, epoch_};
        ++used_;
        return fresh;
      }
      if (slot.hash == hash && same(slot.index)) return slot.index;
    }
  }

  void clear() {
    ++epoch_;
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t index = 0;
    std::uint32_t epoch = 0;  // a slot of another epoch is empty
  };
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::uint32_t epoch_ = 1;
};

// A line, and where it stands.
struct LinePlace {
  std::uint64_t number = 0;  // in the source, from 1
  std::uint64_t offset = 0;
  std::string_view text;
};

// Evidence is shown to people; the rest of a longer line tells them nothing.
inline constexpr std::size_t kMaxEvidenceBytes = 4096;

// A line as it is kept for display: without its newline, and cut to a limit.
std::string_view evidence_text(std::string_view line);

class CallCollector {
 public:
  // The index of this speaker in the batch; it is added if it is new.
  std::uint32_t speaker(Batch& batch, std::string_view host, std::int64_t pid, int device,
                        int rank);

  // A new run takes `next_order` and increments it. The line's text must stay where it is until
  // keep_texts().
  void add(Batch& batch, std::uint32_t speaker, const NcclCall& call, const EventTime& time,
           const LinePlace& line, std::uint32_t& next_order);

  // Copies the last line of every run that grew into the batch.
  void keep_texts(Batch& batch);

  // Makes later calls begin new runs, so that they do not come before what happened in between.
  void seal() { run_table_.clear(); }

  // The batch was taken; its indices mean nothing any more.
  void reset();

 private:
  std::uint32_t signature(Batch& batch, const NcclCall& call);

  IndexTable speaker_table_;
  IndexTable signature_table_;
  IndexTable run_table_;
  std::uint32_t last_speaker_ = 0;            // most lines have the speaker of the line before
  std::vector<std::string_view> last_lines_;  // by run; empty: nothing new
  std::vector<std::uint32_t> grown_;          // runs with a last line to copy
};

}  // namespace faultline
