// Remarks: free text that processes printed, with equal texts folded into one, and how their
// communicators ended. The signatures explain a text only when the job is diagnosed, so rules that
// are loaded later apply to earlier texts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/fair_limit.h"
#include "rules/state/line_ref.h"
#include "rules/state/process_key.h"

namespace faultline {

// The first error code on its way up the call stack after a warning.
struct Returned {
  int code = 0;  // ncclResult_t
  std::string place;
  std::uint64_t order = 0;
};

// A text that a process printed, once or many times.
struct SaidRemark {
  Remark remark;  // the first, as printed
  Speaker speaker;
  std::uint64_t order = 0;  // among all events of this process
  std::uint64_t last_order = 0;
  std::uint64_t count = 0;
  LineRef first;
  LineRef last;  // its text is not kept
  std::optional<Returned> returned;

  bool warns() const { return remark.level == "warn"; }
};

// How the communicators of a process ended.
struct Endings {
  std::uint64_t destroyed = 0;
  std::optional<LineRef> aborted;  // the first abort, begun or done
  std::uint64_t aborted_order = 0;
};

struct RemarkingProcess {
  ProcessKey process;
  std::string host;  // as its lines name it, else as the sender does; empty: not known
  std::uint32_t source = 0;
  int launcher_rank = -1;
  std::vector<SaidRemark> said;  // in order
  Endings endings;

  bool ended_cleanly() const { return endings.destroyed > 0 && !endings.aborted; }
};

class Remarks {
 public:
  void apply(std::uint32_t source, const Source& origin, const Batch& batch, const Event& event);

  using Speaking = Arranged<RemarkingProcess, ByProcess>;
  const Speaking& processes() const { return processes_; }
  const RemarkingProcess* find(const ProcessKey& process) const;  // nullptr: said nothing
  std::uint64_t left_out() const { return left_out_; }            // lines that were over the limit

  // "2.27.7+cuda12.8": the version that the process printed; else its source's; else the only one
  // in the job. Empty: not known.
  std::string nccl_version_of(const RemarkingProcess& process) const;

 private:
  static constexpr std::size_t kMostTexts = 512;   // of one process
  static constexpr std::size_t kMostKept = 65536;  // of the job

  // The kept texts of one process, by the text without what varies.
  struct Known {
    FairLimit limit{kMostTexts};
    std::map<std::string, std::size_t> by_text;
    std::uint64_t next_order = 0;
    std::size_t not_warnings = 0;
    std::optional<std::size_t> last_warning;
  };

  std::optional<std::size_t> process_at(std::uint32_t source, const Source& origin,
                                        const Speaker& speaker);
  void learn_version(std::uint32_t source, const Source& origin, const Speaker& speaker,
                     const Setting& setting);
  void say(std::size_t which, const Speaker& speaker, const Remark& remark, LineRef line);

  Speaking processes_;
  std::vector<Known> known_;  // by process
  std::map<ProcessKey, std::size_t> index_;
  std::map<ProcessKey, std::string> versions_;
  std::map<std::uint32_t, std::string> versions_by_source_;
  std::set<std::string> all_versions_;
  FairLimit limit_{kMostKept};
  std::uint64_t left_out_ = 0;
};

// The text without the parts that vary when the same thing is printed again: pointers, ports, long
// numbers. Addresses, names of devices, ranks and status codes stay.
std::string without_what_varies(std::string_view text);

}  // namespace faultline
