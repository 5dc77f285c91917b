// When the kernels of hosts started, as far as it is known: their lines are stamped with the
// seconds since then.
//
// The lines of a source are divided into boots, and one boot says nothing about another. The wall
// clock at a boot comes from lines with both stamps, from the kernel's reading of its clock, from
// the sender of the log, or from the same message in another log of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"
#include "rules/state/remembered.h"

namespace faultline {

class BootTimes {
 public:
  // `host`: as the line names it, or empty. A source may hold the lines of several hosts.
  void apply(std::uint32_t source, const std::string& host, const Event& event);

  // How many reboots of the host the source has shown.
  std::uint64_t boots(std::uint32_t source, const std::string& host) const;

  // The same, up to a line of the source.
  std::uint64_t boots_before(std::uint32_t source, const std::string& host,
                             std::uint64_t line) const;

  // The line's time. If the line has only the kernel's clock and the time of its boot is known, the
  // wall clock is added. `host_of` returns the host of a source; empty: not known.
  using HostOf = std::function<std::string(std::uint32_t)>;
  EventTime dated(const LineRef& line, const HostOf& host_of) const;

  // To be called when the hosts of sources may have changed.
  void forget_anchors() { anchors_.forget(); }

 private:
  // The wall clock when the kernel's clock stood at `uptime_us`.
  struct Anchor {
    std::int64_t boot_us = 0;
    std::int64_t uptime_us = 0;
    std::int64_t uncertainty_us = 0;
    bool zone_assumed = false;
  };
  struct Boot {
    std::uint64_t first_line = 0;
    std::optional<Anchor> first;  // clocks are set after a boot, so the nearer one counts
    std::optional<Anchor> last;
  };
  // A message that another log of the host may hold too.
  struct Shared {
    std::uint64_t count = 0;
    EventTime time;
    std::size_t boot = 0;
  };
  struct SourceClock {
    std::vector<Boot> boots{Boot{}};
    std::optional<std::int64_t> last_uptime_us;
    std::map<std::uint64_t, Shared> shared;
    bool spoke = false;  // since the last boot of which the sender told
  };

  static void begin_boot(SourceClock& clock, std::uint64_t line);
  static bool is_new_boot(const SourceClock& clock, const EventTime& time);
  void learn(std::uint32_t source, SourceClock& clock, const Event& event);
  static std::size_t boot_at(const SourceClock& clock, std::uint64_t line);
  using Key = std::pair<std::uint32_t, std::string>;  // source, host
  SourceClock* clock_of(std::uint32_t source, const std::string& host, bool make);
  // nullptr if the source holds the lines of several hosts: those lines name their host and the
  // time.
  const SourceClock* only_clock_of(std::uint32_t source) const;
  void tell(std::uint32_t source, const Event& event, std::int64_t boot_us);
  std::optional<Anchor> anchor_of(std::uint32_t source, const SourceClock& clock, std::size_t boot,
                                  std::int64_t uptime_us, const HostOf& host_of) const;
  std::optional<Anchor> anchor_from_others(std::uint32_t source, const SourceClock& clock,
                                           std::size_t boot, const HostOf& host_of) const;
  std::optional<Anchor> find_in_others(std::uint32_t source, const SourceClock& clock,
                                       std::size_t boot, const HostOf& host_of) const;

  std::map<Key, SourceClock> clocks_;
  std::set<std::uint32_t> with_wall_;  // sources whose shared messages have the wall clock
  // by source: the start of its last boot, as the sender said
  std::map<std::uint32_t, std::int64_t> told_;
  // By source: hosts that spoke since then. Only their boots can be over: a sender that tells of a
  // boot again and again adds nothing to hosts that are silent.
  std::map<std::uint32_t, std::vector<std::string>> speaking_;
  // By source and boot: found in other sources.
  mutable Remembered<std::pair<std::uint32_t, std::size_t>, std::optional<Anchor>> anchors_;
};

}  // namespace faultline
