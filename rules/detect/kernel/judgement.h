// Lines of one class about one part of a machine become one suspicion.
#pragma once

#include <optional>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/picture/who/kernel_part.h"

namespace faultline {

struct KernelGroup {
  KernelPart part;
  std::vector<const KernelSighting*> causes;  // in the order of the log
  std::vector<const KernelSighting*> echoes;  // of the same host and class: evidence, no more
  bool network_failed = false;                // NCCL reported that it did

  const KernelSighting* with_stack() const;  // the first whose stack tells of a module
  bool in_driver_of_failed_nic = false;      // which is among the NICs of the part
};

// nullopt: none of the lines counts, as the host was starting or being taken down.
std::optional<Suspicion> judge(const View& view, const KernelGroup& group);

}  // namespace faultline
