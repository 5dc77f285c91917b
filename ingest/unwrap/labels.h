// The names of hosts that pdsh, clush or a shell loop puts before each line, "gpu-7: text", and
// those of containers by docker-compose, "trainer  | text".
//
// One line alone does not show whether a word with a colon is a label or the program's own. A label
// becomes known when something is recognised behind it once (a line of NCCL, the head of a tool's
// report). From then on it is taken off every line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"

namespace faultline {

struct LabelledLine {
  std::string_view label;
  std::string_view text;
  int rank = -1;  // the rank that the label names; then it names no host
};

// The label with which a text may begin. The name of a device is no label.
std::optional<LabelledLine> possible_label(std::string_view text);

class HostLabels {
 public:
  static constexpr std::size_t kMost = 256;

  bool peel(Peeled& line);

  // Something was read behind this label, so it is one.
  void learn(std::string_view label);

  bool empty() const { return known_.empty(); }
  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  bool is_known(std::string_view label) const { return known_.contains(label); }

  std::set<std::string, std::less<>> known_;
};

}  // namespace faultline
