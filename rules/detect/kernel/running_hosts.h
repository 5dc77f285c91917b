// Whether the job ran on a host at the time of a boot.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/picture/view.h"
#include "rules/picture/who/kernel_part.h"

namespace faultline {

enum class When { while_it_ran, at_another_time, cannot_tell };

class RunningHosts {
 public:
  explicit RunningHosts(const View& view);

  const KernelPart& part(const std::string& host) { return on(host).part; }
  When when(const std::string& host, const EventTime& booted);

 private:
  // By zone_assumed, in microseconds.
  using Times = std::array<std::vector<std::int64_t>, 2>;

  // What lines of some ranks say of when they ran.
  struct Ranks {
    std::set<int> ranks;
    std::vector<EventTime> begun;  // the first and the last of each zone_assumed
    Times shown_us;                // when those that were not torn down showed last that they ran
    // The same, with when they began, of those whose stamps do not show that this was before.
    std::array<std::vector<std::pair<std::int64_t, EventTime>>, 2> shown_oddly;
    std::array<std::optional<std::int64_t>, 2> told_us;  // of a time-out, by PyTorch; the last
    Times called_us;                                     // by PyTorch
  };
  struct Host {
    KernelPart part;
    Ranks ranks;
  };

  const Host& on(const std::string& host);
  Ranks learn(const std::vector<std::size_t>& workers) const;
  void learn_torch();
  void learn_xids();
  static bool tell(const Ranks& ranks, const EventTime& booted);
  static bool showed_before(const Ranks& ranks, const EventTime& booted);

  const View& view_;
  // If NCCL's lines have no date, PyTorch's may have one.
  std::array<std::map<int, std::int64_t>, 2> told_us_;
  std::array<std::map<int, std::vector<std::int64_t>>, 2> called_us_;
  Times all_called_us_;
  std::optional<Times> xids_us_;  // of ranks' processes; learned when first asked for
  Ranks nowhere_;                 // of which no line says where they ran
  std::map<std::string, Host> hosts_;
};

}  // namespace faultline
