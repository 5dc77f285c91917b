// Kernel lines: lines that a signature asked for, from the kernels of the job's hosts and from
// programs that watch those hosts. Equal lines are folded into one text. The signatures explain a
// text only when the job is diagnosed.
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
#include "rules/state/fair_limit.h"
#include "rules/state/line_ref.h"

namespace faultline {

struct KernelSaying {
  std::uint64_t order = 0;  // among all lines of this log
  LineRef line;
};

// Equal lines of one boot.
struct KernelText {
  // The highest count within a minute, an hour and a day, by the stamps.
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
  bool log_goes_back = false;  // the log has earlier lines
};

// The lines of one source about one host.
struct KernelLog {
  std::string spoken_host;  // named by the lines; empty: the source decides
  std::uint32_t source = 0;
  std::string begins;             // its first line
  std::vector<KernelText> texts;  // in the order of their first lines
  std::vector<KernelBoot> boots;
  std::uint64_t boot = 0;  // how many boots have begun

  const KernelBoot* boot_of(const KernelText& text) const;  // nullptr: the log does not show it
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
  std::uint64_t left_out() const { return left_out_; }  // lines that were over the limit

 private:
  static constexpr std::size_t kMostTexts = 2048;  // of one log
  static constexpr std::size_t kMostKept = 65536;  // of the job

  struct Memory {
    FairLimit limit{kMostTexts};
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
  FairLimit limit_{kMostKept};
  std::uint64_t left_out_ = 0;
};

// Whether the remark is about a host, and not from a process of the job.
bool is_of_a_host(const Remark& remark);

}  // namespace faultline
