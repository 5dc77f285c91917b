// Kernel lines and what the signatures say about them: which lines count, and which problems are
// over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/signatures.h"
#include "rules/picture/view.h"
#include "rules/picture/when/between.h"

namespace faultline {

// Equal lines that match a signature.
struct KernelSighting {
  const KernelLog* log = nullptr;
  const KernelText* text = nullptr;
  const MessageSignature* signature = nullptr;
  std::map<std::string, std::string, std::less<>> fields;  // PCI addresses in their usual spelling
  std::string host;                                        // empty: not known

  // The first and last line that count: not while the host booted or a driver was taken down.
  // nullptr: none.
  const KernelSaying* first = nullptr;
  const KernelSaying* last = nullptr;

  // A later line that says that the problem is over.
  const KernelSaying* recovery = nullptr;

  std::string_view field(std::string_view name) const;  // empty: the line has none
  std::int64_t pid() const;                             // 0: the line names no process
  bool counts() const { return first != nullptr; }
};

// The names of NICs, and which device is below which PCI port, as lines say.
class KernelDevices {
 public:
  KernelDevices(const View& view, const std::vector<KernelSighting>& sightings);

  struct Names {
    std::string pci;
    std::string device;
    std::string netdev;
  };
  // Finds a NIC by any of its names. nullptr: no line gives a second name for it.
  const Names* nic(const std::string& host, const Names& known) const;

  // The only device that lines name together with this port. Empty: none, or several.
  std::string below(const std::string& host, std::string_view bridge) const;

 private:
  void learn(const std::string& host, const Names& names);

  std::map<std::string, std::vector<Names>, std::less<>> nics_;  // by host
  std::map<std::string, std::string, std::less<>> below_;        // by host and port
};

struct KernelSightings {
  std::vector<KernelSighting> all;  // by log, in the order in which they first came
  KernelDevices devices;
};

KernelSightings kernel_sightings_of(const View& view);

}  // namespace faultline
