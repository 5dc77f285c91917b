// A fact is what one line says. Which line, who said it and when is in the Event around it.
//
// To add a kind of fact: write its struct in the file of its family under model/facts/, describe
// it, add it to Fact. Store and JSON read the fields off the description, so they need no change.
#pragma once

#include <string_view>
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

using Fact =
    std::variant<CommunicatorInit, CommunicatorEnd, CommunicatorShape, Setting, PeerConnection,
                 SetupStep, BackTrace, Remark, RankReport, CommunicatorReport, ProxyOperation,
                 GpuXid, GpuIdentity, HostBooted, ReportOpened, PartReport, SwitchError, GpuDriver,
                 HostStopping, ClockReading, LinesLost, FlightRecorderDump, FlightRecorderGroup,
                 WatchdogTimeout, WatchdogStatus, DumpSignal, WatchdogStuck, DesyncEntry,
                 BarrierMissed, CalledCollective, UnusedParameters, PythonException, StackTop,
                 ProcessExit, UnreadTrouble>;

inline std::string_view kind_of(const Fact& fact) {
  return std::visit([](const auto& f) { return f.kKind; }, fact);
}

}  // namespace faultline
