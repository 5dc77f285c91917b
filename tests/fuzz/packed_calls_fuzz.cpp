// Any bytes as stored calls. Whatever is accepted must come back the same when it is written again,
// and must accept more calls.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rules/state/job_state.h"
#include "store/prints.h"

namespace faultline {
namespace {

void try_prints(std::string_view bytes) {
  std::vector<HeldBlock> blocks;
  try {
    blocks = read_prints(bytes);
  } catch (const BadBytes&) {
    return;
  }
  if (read_prints(write_prints(blocks)) != blocks) std::abort();
}

// Each known process makes one more call and a new one.
Batch more_calls(const Progress& progress) {
  constexpr std::size_t kMost = 64;
  Batch batch;
  batch.signatures = {{.function = "AllReduce", .count = 4711}, {.function = "Send", .count = 3}};
  for (const Member& member : progress.members()) {
    if (batch.runs.size() == kMost) break;
    batch.speakers.push_back({.host = member.process.host, .pid = member.process.pid});
    batch.runs.push_back({.order = static_cast<std::uint32_t>(batch.runs.size()),
                          .speaker = static_cast<std::uint32_t>(batch.speakers.size() - 1),
                          .communicator = member.pointer,
                          .nranks = member.nranks,
                          .calls = {{.op_count = member.last_op_count + 1},
                                    {.op_count = member.last_op_count + 2, .signature = 1}}});
  }
  return batch;
}

}  // namespace
}  // namespace faultline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_prints(bytes);
  JobState job("j");
  if (!job.take_packed_calls(bytes)) return 0;
  const std::string packed = job.packed_calls();
  JobState again("j");
  if (!again.take_packed_calls(packed) || again.packed_calls() != packed) std::abort();
  job.apply({.job = "j", .name = "s"}, more_calls(job.progress()), Timestamp{});
  if (!again.take_packed_calls(job.packed_calls())) std::abort();
  return 0;
}
