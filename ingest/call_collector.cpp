#define XXH_INLINE_ALL
#include "ingest/call_collector.h"

#include <xxhash.h>

namespace faultline {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdU;
  return x ^ (x >> 32);
}

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Operations that the program defines are printed as numbers that differ from rank to rank.
int comparable_operation(int operation) {
  return operation >= Signature::kUserOperation || operation < 0 ? Signature::kUserOperation
                                                                 : operation;
}

// Milliseconds since the run began; if they are not known, those of the call before.
std::uint32_t milliseconds_into(const CallRun& run, const EventTime& time) {
  const std::uint32_t before = run.calls.empty() ? 0 : run.calls.back().after_ms;
  if (!run.first_time.wall_us || !time.wall_us) return before;
  const std::int64_t passed = *time.wall_us - *run.first_time.wall_us;
  return passed < 0 || passed / 1000 > UINT32_MAX ? before
                                                  : static_cast<std::uint32_t>(passed / 1000);
}

}  // namespace

std::string_view evidence_text(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  return line.substr(0, kMaxEvidenceBytes);
}

void IndexTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.epoch != epoch_) continue;
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].epoch == epoch_) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::uint32_t CallCollector::speaker(Batch& batch, std::string_view host, std::int64_t pid,
                                     int device, int rank) {
  auto same = [&](std::uint32_t index) {
    const Speaker& known = batch.speakers[index];
    return known.pid == pid && known.device == device && known.rank == rank && known.host == host;
  };
  if (last_speaker_ < batch.speakers.size() && same(last_speaker_)) return last_speaker_;
  auto fresh = static_cast<std::uint32_t>(batch.speakers.size());
  std::uint64_t number = static_cast<std::uint64_t>(pid) << 24 ^
                         static_cast<std::uint64_t>(device + 1) << 16 ^
                         static_cast<std::uint64_t>(rank + 1);
  last_speaker_ = speaker_table_.find_or_insert(mix(hash_of(host), number), fresh, same);
  if (last_speaker_ == fresh) batch.speakers.push_back({std::string(host), pid, device, rank});
  return last_speaker_;
}

std::uint32_t CallCollector::signature(Batch& batch, const NcclCall& call) {
  int operation = comparable_operation(call.operation);
  auto same = [&](std::uint32_t index) {
    const Signature& known = batch.signatures[index];
    return known.count == call.count && known.datatype == call.datatype &&
           known.operation == operation && known.root == call.root &&
           known.count_is_size == call.count_is_size && known.done == call.done &&
           known.function == call.function;
  };
  std::uint64_t small =
      static_cast<std::uint64_t>(call.datatype) << 40 ^
      static_cast<std::uint64_t>(operation) << 32 ^ static_cast<std::uint64_t>(call.root) << 2 ^
      static_cast<std::uint64_t>(call.count_is_size) << 1 ^ static_cast<std::uint64_t>(call.done);
  std::uint64_t name = call.function.size() << 8 ^ static_cast<unsigned char>(call.function.back());
  auto fresh = static_cast<std::uint32_t>(batch.signatures.size());
  std::uint32_t index =
      signature_table_.find_or_insert(mix(mix(call.count, small), name), fresh, same);
  if (index == fresh)
    batch.signatures.push_back({std::string(call.function), call.count, call.datatype, operation,
                                call.root, call.count_is_size, call.done});
  return index;
}

void CallCollector::add(Batch& batch, std::uint32_t speaker, const NcclCall& call,
                        const EventTime& time, const LinePlace& line, std::uint32_t& next_order) {
  auto fresh = static_cast<std::uint32_t>(batch.runs.size());
  std::uint32_t index =
      run_table_.find_or_insert(mix(call.communicator, speaker), fresh, [&](std::uint32_t known) {
        const CallRun& run = batch.runs[known];
        return run.communicator == call.communicator && run.speaker == speaker &&
               run.nranks == call.nranks;
      });
  if (index == fresh) {
    CallRun& run = batch.runs.emplace_back();
    run.order = next_order++;
    run.speaker = speaker;
    run.communicator = call.communicator;
    run.nranks = call.nranks;
    run.first_time = time;
    last_lines_.emplace_back();
  }
  CallRun& run = batch.runs[index];
  run.calls.push_back({call.op_count, signature(batch, call),
                       static_cast<std::uint32_t>(line.number - batch.first_line),
                       static_cast<std::uint32_t>(line.offset - batch.from_offset),
                       milliseconds_into(run, time)});
  run.last_time = time;
  if (last_lines_[index].empty()) grown_.push_back(index);
  last_lines_[index] = line.text;
}

void CallCollector::keep_texts(Batch& batch) {
  for (std::uint32_t index : grown_) {
    batch.runs[index].last_text = evidence_text(last_lines_[index]);
    last_lines_[index] = {};
  }
  grown_.clear();
}

void CallCollector::reset() {
  speaker_table_.clear();
  signature_table_.clear();
  run_table_.clear();
  last_lines_.clear();
  grown_.clear();
  last_speaker_ = 0;
}

}  // namespace faultline
