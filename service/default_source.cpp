#include "service/default_source.h"

#include <algorithm>
#include <vector>

#include "service/resend_filter.h"

namespace faultline {
namespace {

// name, name#2, …
bool is_numbered(std::string_view candidate, std::string_view name) {
  if (!candidate.starts_with(name)) return false;
  candidate.remove_prefix(name.size());
  return candidate.empty() ||
         (candidate.size() > 1 && candidate.front() == '#' &&
          candidate.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::vector<std::string> numbered_sources(Store& store, const std::string& job,
                                          const std::string& name) {
  std::vector<std::string> names;
  for (const StoredSource& stored : store.sources(job))
    if (is_numbered(stored.source.name, name)) names.push_back(stored.source.name);
  return names;
}

bool begins_a_body(const Fingerprint& block, std::string_view head) {
  const std::uint64_t size = block.to_offset - block.from_offset;
  const auto compared = static_cast<std::size_t>(std::min<std::uint64_t>(size, kHeadBytes));
  return block.starts_body && size > 0 && head.size() >= compared &&
         digest_of(head.substr(0, compared)) == block.head_digest;
}

}  // namespace

bool has_default_source(Store& store, const std::string& job, const std::string& name) {
  return !numbered_sources(store, job, name).empty();
}

std::shared_ptr<SourceLease> lease_default_source(OpenSources& open, Store& store,
                                                  const std::string& job, const std::string& name,
                                                  std::string_view head,
                                                  std::function<void()> on_loss) {
  for (const std::string& candidate : numbered_sources(store, job, name)) {
    const std::vector<Fingerprint> blocks = store.fingerprints(job, candidate);
    if (std::any_of(blocks.begin(), blocks.end(),
                    [&](const Fingerprint& block) { return begins_a_body(block, head); }))
      if (auto lease = open.take_if_free(job, candidate, on_loss)) return lease;
  }
  return open.take_free(job, name, std::move(on_loss));
}

}  // namespace faultline
