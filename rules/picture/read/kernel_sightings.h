// Kernel lines with what the signatures say of them: which of them count, and which are over.
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

// Equal lines that a signature knows.
struct KernelSighting {
  const KernelLog* log = nullptr;
  const KernelText* text = nullptr;
  const MessageSignature* signature = nullptr;
  std::map<std::string, std::string, std::less<>> fields;  // PCI addresses in their usual spelling
  std::string host;                                        // empty: not known

  // Of its sayings, those that count: not while the host started or was taken down. nullptr: none.
  const KernelSaying* first = nullptr;
  const KernelSaying* last = nullptr;

  // A later line said that it is over.
  const KernelSaying* recovery = nullptr;

  std::string_view field(std::string_view name) const;  // empty: the line has none
  std::int64_t pid() const;                             // 0: it names no process
  bool counts() const { return first != nullptr; }
};

// The names of NICs and what lies below which PCI port, as lines tell of them.
class KernelDevices {
 public:
  KernelDevices(const View& view, const std::vector<KernelSighting>& sightings);

  struct Names {
    std::string pci;
    std::string device;
    std::string netdev;
  };
  // By any of its names. nullptr: no line told of a second name of it.
  const Names* nic(const std::string& host, const Names& known) const;

  // The only device that a line named together with this port. Empty: none, or several.
  std::string below(const std::string& host, std::string_view bridge) const;

 private:
  void learn(const std::string& host, const Names& names);

  std::map<std::string, std::vector<Names>, std::less<>> nics_;  // by host
  std::map<std::string, std::string, std::less<>> below_;        // by host and port
};

struct KernelSightings {
  std::vector<KernelSighting> all;  // by log, in the order in which they were first said
  KernelDevices devices;
};

KernelSightings kernel_sightings_of(const View& view);

}  // namespace faultline
