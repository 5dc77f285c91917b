// Reports of ncclras and similar tools: every fact has the fields that it needs.
#include "any_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  read_anyhow(data, size, [](const Fact& fact) {
    const auto* rank = std::get_if<RankReport>(&fact);
    if (rank == nullptr) return true;
    const bool names_someone = rank->rank >= 0 || rank->pid != 0 || rank->launched;
    const bool says_something = !rank->state.empty() || !rank->error.empty() || rank->launched ||
                                rank->completed || !rank->communicator_id.empty();
    return names_someone && says_something;
  });
  return 0;
}
