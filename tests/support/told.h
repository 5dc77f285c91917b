// The facts and calls of a batch, one line each, in the order of the source; the same however the
// source was cut into batches.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "model/batch.h"

namespace faultline {

inline std::string told(const Batch& batch) {
  std::multimap<std::uint64_t, std::string> by_line;
  auto speaker = [&](std::uint32_t index) {
    const Speaker& who = batch.speakers[index];
    return fmt::format("{}:{} [{}] rank {}", who.host, who.pid, who.device, who.rank);
  };
  for_each_in_order(
      batch,
      [&](const Event& event) {
        std::string time = event.time.wall() ? " at " + to_rfc3339(*event.time.wall()) : "";
        by_line.emplace(event.line, fmt::format("{}@{} {} by {}{}", event.line, event.offset,
                                                kind_of(event.fact), speaker(event.speaker), time));
      },
      [&](const CallRun& run) {
        for (const Call& call : run.calls)
          by_line.emplace(
              batch.first_line + call.line,
              fmt::format("{}@{} {} #{} on {:x} of {} by {}", batch.first_line + call.line,
                          offset_of(batch, call), to_text(batch.signatures[call.signature]),
                          call.op_count, run.communicator, run.nranks, speaker(run.speaker)));
      });
  std::string out;
  for (const auto& [line, text] : by_line) out += text + "\n";
  return out;
}

}  // namespace faultline
