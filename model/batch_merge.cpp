#include "model/batch_merge.h"

namespace faultline {
namespace {

void add(std::map<std::string, std::uint64_t>& counts,
         const std::map<std::string, std::uint64_t>& more) {
  for (const auto& [name, count] : more) counts[name] += count;
}

}  // namespace

void add_counts(Batch& to, const Batch& more) {
  to.recognized += more.recognized;
  to.skipped += more.skipped;
  add(to.dialects, more.dialects);
  add(to.subsystems, more.subsystems);
  to.left_out += more.left_out;
}

SpeakersOf::SpeakersOf(Batch& batch) : batch_(batch) {
  for (std::size_t i = 0; i < batch.speakers.size(); ++i)
    known_.emplace(key(batch.speakers[i]), static_cast<std::uint32_t>(i));
}

std::uint32_t SpeakersOf::index_of(const Speaker& speaker) {
  const auto next = static_cast<std::uint32_t>(batch_.speakers.size());
  const auto [at, is_new] = known_.emplace(key(speaker), next);
  if (is_new) batch_.speakers.push_back(speaker);
  return at->second;
}

SpeakersOf::Key SpeakersOf::key(const Speaker& speaker) {
  return {speaker.host, speaker.pid, speaker.device, speaker.rank};
}

}  // namespace faultline
