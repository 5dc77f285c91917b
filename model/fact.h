// A fact is what one line says. Which line, who said it and when is in the Event around it.
//
// To add a kind of fact: write its struct in the file of its family under model/facts/, describe
// it, add it to Fact. Store and JSON read the fields off the description, so they need no change.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/facts/flight.h"
#include "model/facts/kernel.h"
#include "model/facts/launcher.h"
#include "model/facts/nccl.h"
#include "model/facts/part.h"
#include "model/facts/remark.h"
#include "model/facts/report.h"
#include "model/facts/torch.h"

namespace faultline {

using FactKinds =
    std::variant<CommunicatorInit, CommunicatorEnd, CommunicatorShape, Setting, PeerConnection,
                 SetupStep, BackTrace, Remark, RankReport, CommunicatorReport, ProxyOperation,
                 GpuXid, GpuIdentity, HostBooted, ReportOpened, PartReport, SwitchError, GpuDriver,
                 HostStopping, ClockReading, LinesLost, FlightRecorderDump, FlightRecorderGroup,
                 WatchdogTimeout, WatchdogStatus, DumpSignal, WatchdogStuck, DesyncEntry,
                 BarrierMissed, CalledCollective, UnusedParameters, PythonException, StackTop,
                 ProcessExit, UnreadTrouble>;

template <typename Kind, typename Kinds>
inline constexpr bool kIsOneOf = false;
template <typename Kind, typename... Kinds>
inline constexpr bool kIsOneOf<Kind, std::variant<Kinds...>> = (std::is_same_v<Kind, Kinds> || ...);

// A class around the kinds, so that how each of them is copied, moved, compared and destroyed is
// compiled once. Otherwise every source that holds an Event in a vector takes seconds for it.
class Fact : public FactKinds {
 public:
  Fact();
  Fact(const Fact& other);
  Fact(Fact&& other) noexcept;
  Fact& operator=(const Fact& other);
  Fact& operator=(Fact&& other) noexcept;
  ~Fact();

  template <typename Kind>
    requires kIsOneOf<std::remove_cvref_t<Kind>, FactKinds>
  Fact(Kind&& kind)  // NOLINT(google-explicit-constructor): a kind of fact is a fact
      : FactKinds(std::in_place_type<std::remove_cvref_t<Kind>>, std::forward<Kind>(kind)) {}

  bool operator==(const Fact& other) const;
};

std::string_view kind_of(const Fact& fact);

}  // namespace faultline
