#include "rules/state/nics.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/pci_address.h"
#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNics = 65536;
constexpr std::size_t kLongestName = 64;

std::string name_in(const PartReport& report, std::string_view wanted) {
  for (const NamedValue& name : report.names)
    if (name.name == wanted) return name.value;
  return {};
}

}  // namespace

bool Nics::learns_from(const PartReport& report) {
  return report.kind != "gpu" && report.kind != "nvlink" &&
         std::ranges::count_if(report.names, [](const NamedValue& name) {
           return name.name == "pci" || name.name == "device" || name.name == "netdev";
         }) > 1;
}

void Nics::apply(std::uint32_t source, const Batch& batch, const Event& event) {
  const auto* report = std::get_if<PartReport>(&event.fact);
  if (report == nullptr || !learns_from(*report)) return;
  learn({.spoken_host = short_host(batch.speakers[event.speaker].host),
         .source = source,
         .pci = name_in(*report, "pci"),
         .device = name_in(*report, "device"),
         .netdev = name_in(*report, "netdev")});
}

void Nics::learn(Nic nic) {
  if (const auto address = normal_pci(nic.pci))
    nic.pci = *address;
  else
    nic.pci.clear();
  const int names = !nic.pci.empty() + !nic.device.empty() + !nic.netdev.empty();
  const bool too_long = nic.device.size() > kLongestName || nic.netdev.size() > kLongestName;
  if (names < 2 || too_long || all_.size() >= kMostNics) return;
  all_.insert(std::move(nic));
}

}  // namespace faultline
