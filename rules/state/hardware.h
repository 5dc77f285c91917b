// Hardware: what the kernels of the job's hosts reported about their GPUs and NVSwitches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/fair_limit.h"
#include "rules/state/line_ref.h"

namespace faultline {

// Why a report may mean nothing: the machine was under maintenance.
enum class Upkeep { none, driver_reload, shutdown };

// All reports of one Xid code by one GPU in one burst, from one source: a storm of a hundred
// thousand lines is one incident.
struct XidIncident {
  std::string spoken_host;  // named by the lines; empty: the source decides
  std::uint32_t source = 0;
  std::string gpu;
  int code = 0;
  std::uint64_t count = 0;
  std::set<std::int64_t> pids;       // the first few
  std::vector<std::string> details;  // the first few different texts, and the last one
  std::optional<int> caused_by;      // "caused by previous Xid 31"
  LineRef first;
  LineRef last;
  std::uint64_t boot = 0;   // how many reboots of the host were seen before it
  std::uint64_t burst = 0;  // number of the burst; three minutes of silence end one
  Upkeep upkeep = Upkeep::none;
};

// The same for an NVSwitch and its SXid code.
struct SwitchIncident {
  std::string spoken_host;
  std::uint32_t source = 0;
  std::string nvswitch;
  int code = 0;
  std::uint64_t count = 0;
  std::string printed;  // the worst severity that its lines printed
  std::set<int> links;  // the first few
  std::string detail;   // of the first line
  std::string teller;
  LineRef first;
  LineRef last;
  std::uint64_t boot = 0;
  Upkeep upkeep = Upkeep::none;
};

// Kernel lines that a source says it lacks.
struct LostLines {
  std::string spoken_host;
  std::uint32_t source = 0;
  std::int64_t lines = 0;
  LineRef last;
};

// In the order of the lines of one source.
struct ByFirstLine {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return std::tie(a.spoken_host, a.first.line, a.code, a.first.text) <
           std::tie(b.spoken_host, b.first.line, b.code, b.first.text);
  }
};

class Hardware {
 public:
  using Xids = Arranged<XidIncident, ByFirstLine>;
  using SwitchErrors = Arranged<SwitchIncident, ByFirstLine>;
  // Whether it is a fact from a kernel log, about hardware or the clock.
  static bool tells_of(const Fact& fact);

  // `host`: named by the line, or empty; `boot`: how many reboots its source has shown.
  void apply(const std::string& host, const Event& event, LineRef line, std::uint64_t boot);

  const Xids& xids() const { return xids_; }
  const SwitchErrors& switch_errors() const { return switch_errors_; }
  const std::vector<LostLines>& lost_lines() const { return lost_lines_; }
  // Lines about GPUs, and about switches, that were over the limit.
  std::uint64_t xids_left_out() const { return limit_of_xids_.left_out(); }
  std::uint64_t switch_errors_left_out() const { return limit_of_switch_errors_.left_out(); }

  // The names of a GPU as far as lines say; spoken_host as in XidIncident.
  struct Gpu {
    std::string spoken_host;
    std::uint32_t source = 0;
    std::string gpu;
    std::string uuid;
    std::string serial;
  };
  const std::vector<Gpu>& gpus() const { return gpus_; }

 private:
  // State of one GPU or switch in one source.
  struct Part {
    std::uint64_t boot = 0;
    std::uint64_t burst = 0;
    EventTime last;
  };
  struct Maintenance {
    Upkeep kind = Upkeep::none;
    EventTime since;
    std::uint64_t boot = 0;
  };
  using PartKey = std::tuple<std::uint32_t, std::string, std::string>;  // source, host, address
  static constexpr std::size_t kMostIncidents = 32768;
  using IncidentKey = std::tuple<PartKey, int, std::uint64_t, std::uint64_t>;  // code, boot, burst

  void apply_xid(const GpuXid& xid, const std::string& host, std::uint64_t boot, LineRef line);
  void apply_switch(const SwitchError& error, const std::string& host, std::uint64_t boot,
                    LineRef line);
  void apply_lost(const LinesLost& lost, const std::string& host, LineRef line);
  std::uint64_t burst_of(const PartKey& key, std::uint64_t boot, const EventTime& time);
  Upkeep upkeep_at(const std::string& host, std::uint64_t boot, const LineRef& line) const;

  std::map<PartKey, Part> parts_;
  std::map<IncidentKey, std::size_t> known_xids_;
  Xids xids_;
  FairLimit limit_of_xids_{kMostIncidents};
  std::map<IncidentKey, std::size_t> known_switch_errors_;
  SwitchErrors switch_errors_;
  FairLimit limit_of_switch_errors_{kMostIncidents};
  std::map<std::pair<std::uint32_t, std::string>, Maintenance> maintenance_;  // source, host
  std::vector<LostLines> lost_lines_;
  std::vector<Gpu> gpus_;
};

}  // namespace faultline
