// Which labels of shippers say of which job, host and rank a message is, and from which stream it
// comes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

enum class LabelSlot { job, host, rank, file, space, pod, container, unit, program };
inline constexpr std::size_t kLabelSlots = 9;

// Names are compared in a plain form, lower case and with '_' for all that is no letter or digit:
// shippers write host.name, host_name and HOST-NAME.
class LabelNames {
 public:
  LabelNames();  // those that Kubernetes, Slurm, Ray and common shippers use

  struct Row {
    std::string name;  // plain
    LabelSlot slot = LabelSlot::job;
    std::size_t rank = 0;       // the least counts
    bool of_namespace = false;  // another namespace may have a job of that name
  };
  // Null: the label says nothing of a destination. `name` as the shipper writes it.
  const Row* find(std::string_view name) const;

 private:
  std::vector<Row> rows_;  // sorted by name
};

}  // namespace faultline
