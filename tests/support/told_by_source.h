// All facts, calls and counts in the batches of a source, the same however the source was cut into
// bodies and batches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "facts_of_source.h"
#include "model/batch.h"

namespace faultline {

struct ToldBySource {
  FactsOfSource facts;
  std::vector<std::string> calls;  // in order of lines; batches hold runs by thread
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::uint64_t skipped = 0;
  std::map<std::string, std::uint64_t> dialects;
  std::map<std::string, std::uint64_t> subsystems;

  void add(const Batch& batch) {
    for_each_in_order(
        batch, [&](const Event& event) { facts.add(batch, event); },
        [&](const CallRun& run) { add(batch, run); });
    std::sort(calls.begin(), calls.end());
    lines += batch.lines;
    recognized += batch.recognized;
    skipped += batch.skipped;
    for (const auto& [dialect, count] : batch.dialects) dialects[dialect] += count;
    for (const auto& [subsystem, count] : batch.subsystems) subsystems[subsystem] += count;
  }

  std::string text() const {
    std::string all =
        fmt::format("{} lines, {} recognized, {} skipped\n", lines, recognized, skipped);
    for (const auto& [dialect, count] : dialects) all += fmt::format("{}: {}\n", dialect, count);
    for (const auto& [subsystem, count] : subsystems)
      all += fmt::format("{}: {} without a fact\n", subsystem, count);
    for (const std::string& fact : facts.in_order) all += fact + "\n";
    for (const auto& [what, report] : facts.latest_reports) all += report + "\n";
    for (const auto& [connection, channels] : facts.channels)
      all += fmt::format("{} channels: {}\n", channels, connection);
    for (const std::string& setting : facts.settings) all += setting + "\n";
    for (const std::string& call : calls) all += call + "\n";
    return all;
  }

  bool operator==(const ToldBySource&) const = default;

 private:
  void add(const Batch& batch, const CallRun& run) {
    const Speaker& by = batch.speakers[run.speaker];
    for (const Call& call : run.calls)
      calls.push_back(fmt::format("{:08}@{} {} #{} on {:x} of {} by {}:{}",
                                  batch.first_line + call.line, offset_of(batch, call),
                                  to_text(batch.signatures[call.signature]), call.op_count,
                                  run.communicator, run.nranks, by.host, by.pid));
  }
};

}  // namespace faultline
