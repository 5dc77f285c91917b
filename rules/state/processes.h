// Processes: who printed lines of NCCL's, whether or not a communicator came of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/line_ref.h"
#include "rules/state/process_key.h"

namespace faultline {

struct ProcessSeen {
  ProcessKey process;
  std::string host;        // as its lines name it, else as the sender does; empty: not known
  int launcher_rank = -1;  // what a launcher's prefix or the sender said
  std::uint32_t source = 0;
  bool began = false;      // to set up a communicator
  bool connected = false;  // it got as far as the topology, which takes all ranks
  bool prints_init =
      false;  // lines of NCCL's start are logged, so that of a beginning would be too
  LineRef first;
  LineRef last;  // that says something of its start
};

class Processes {
 public:
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);

  // Those whose pid is not known are left out.
  using All = Arranged<ProcessSeen, ByProcess>;
  const All& all() const { return all_; }
  const ProcessSeen* find(const ProcessKey& process) const;  // nullptr: not seen

 private:
  All all_;
  std::map<ProcessKey, std::size_t> known_;
};

}  // namespace faultline
