// Processes: all that printed lines of NCCL, even without a communicator.
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
  int launcher_rank = -1;  // from a launcher's prefix, or from the sender
  std::uint32_t source = 0;
  bool began = false;      // it began to set up a communicator
  bool connected = false;  // it reached the topology stage, for which all ranks are needed
  // It logs the lines of NCCL's startup, so it would also log the beginning of a communicator.
  bool prints_init = false;
  LineRef first;
  LineRef last;  // the last line about its startup
};

class Processes {
 public:
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);

  // Processes without a known pid are left out.
  using All = Arranged<ProcessSeen, ByProcess>;
  const All& all() const { return all_; }
  const ProcessSeen* find(const ProcessKey& process) const;  // nullptr: not seen
  std::uint64_t left_out() const { return left_out_; }       // lines of processes over the limit

 private:
  All all_;
  std::uint64_t left_out_ = 0;
  std::map<ProcessKey, std::size_t> known_;
};

}  // namespace faultline
