// Kernel lines: what the kernels of the job's hosts, and programs that look after those hosts,
// logged and a signature asked for. Equal lines are folded into one text; what a text means is
// asked of the signatures when the job is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct KernelSaying {
  std::uint64_t order = 0;  // among all that this log says
  LineRef line;
};

// Equal lines of one boot.
struct KernelText {
  // The most of them within a minute, an hour and a day, told by their stamps.
  struct Busiest {
    std::optional<std::int64_t> since_us;
    std::uint64_t count = 0;
    std::uint64_t most = 0;
  };

  Remark remark;  // the first, as printed
  std::uint64_t boot = 0;
  std::uint64_t count = 0;
  std::vector<KernelSaying> sayings;  // the first few and the last few
  std::array<Busiest, 3> busiest;

  const KernelSaying& first() const { return sayings.front(); }
  const KernelSaying& last() const { return sayings.back(); }
};

struct KernelBoot {
  std::uint64_t order = 0;
  LineRef line;
  bool log_goes_back = false;  // the log has lines from before it
};

// What one source tells of one host.
struct KernelLog {
  std::string spoken_host;  // named by the lines; empty: whose it is depends on the source
  std::uint32_t source = 0;
  std::string begins;             // its first line
  std::vector<KernelText> texts;  // in the order of their first sayings
  std::vector<KernelBoot> boots;
  std::uint64_t boot = 0;     // how often it has begun anew
  std::uint64_t dropped = 0;  // texts beyond what is kept

  const KernelBoot* boot_of(const KernelText& text) const;  // nullptr: it is not in the log
};

struct ByHostAndBeginning {
  bool operator()(const KernelLog& a, const KernelLog& b) const {
    return std::tie(a.spoken_host, a.begins) < std::tie(b.spoken_host, b.begins);
  }
};

class KernelLines {
 public:
  using Logs = Arranged<KernelLog, ByHostAndBeginning>;
  void apply(std::uint32_t source, const Batch& batch, const Event& event);

  const Logs& logs() const { return logs_; }

 private:
  struct Memory {
    std::map<std::pair<std::uint64_t, std::string>, std::size_t> texts;  // by boot and key
    std::uint64_t next_order = 0;
    std::optional<std::int64_t> uptime_us;
  };

  std::optional<std::size_t> log_of(std::uint32_t source, const std::string& host,
                                    const Event& event);
  void begin_boot(std::size_t which, const Event& event, bool told);
  void say(std::size_t which, const Remark& remark, LineRef line);

  std::map<std::pair<std::uint32_t, std::string>, std::size_t> known_;
  Logs logs_;
  std::vector<Memory> memories_;  // by log
  std::size_t kept_ = 0;
};

// Whether such a remark is for this state, and not what a process of the job says.
bool is_of_a_host(const Remark& remark);

}  // namespace faultline
