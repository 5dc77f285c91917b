#include "rules/picture/read/swallowed_errors.h"

#include <array>
#include <charconv>
#include <compare>

namespace faultline {
namespace {

using Version = std::array<int, 3>;

struct Range {
  Version first;
  Version last;
};
// The proxy's progress thread ends (2.18) or drops the operation (2.26); 2.28.3 reports errors
// again.
constexpr Range kSwallowing[] = {{{2, 18, 1}, {2, 18, 6}}, {{2, 26, 2}, {2, 27, 7}}};

Version version_in(std::string_view text) {
  Version version{};
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (int& part : version) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) break;
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  return version;
}

// During the setup of a communicator, all versions return errors.
bool met_in_transfer(const Sighting& sighting) {
  if (sighting.signature->cause == Cause::network_transport_error) return true;
  const auto& returned = sighting.said->returned;
  return sighting.signature->cause == Cause::network_peer_lost && returned &&
         returned->place.find("transport/net.cc") != std::string::npos;
}

}  // namespace

bool swallows_transfer_errors(std::string_view nccl_version) {
  const Version version = version_in(nccl_version);
  for (const Range& range : kSwallowing)
    if (range.first <= version && version <= range.last) return true;
  return false;
}

bool is_swallowed(const View& view, const Sighting& sighting) {
  return met_in_transfer(sighting) &&
         swallows_transfer_errors(view.job.remarks().nccl_version_of(*sighting.process));
}

}  // namespace faultline
