// All facts in the batches of a source, independent of where the batches are cut: a batch holds a
// repeated fact only once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/batch.h"
#include "model/json.h"

namespace faultline {

struct FactsOfSource {
  std::vector<std::string> in_order;
  std::map<std::string, std::string> latest_reports;  // by communicator, rank and operation
  std::map<std::string, int> channels;                // number by connection
  std::set<std::string> settings;

  void add(const Batch& batch, const Event& event) {
    const Speaker& by = batch.speakers[event.speaker];
    const std::string speaker =
        by.host + ":" + std::to_string(by.pid) + ":" + std::to_string(by.rank) + " ";
    const std::string time = event.time.wall_us ? std::to_string(*event.time.wall_us) : "undated";
    const std::string place =
        std::to_string(event.line) + "@" + std::to_string(event.offset) + " at " + time + " ";
    const std::string json = fact_to_json(event.fact);
    const auto* report = std::get_if<RankReport>(&event.fact);
    if (report != nullptr && report->tool == "inspector") {
      latest_reports[report->communicator_id + " " + std::to_string(report->rank) + " " +
                     report->operation] = place + speaker + json;
    } else if (const auto* connection = std::get_if<PeerConnection>(&event.fact)) {
      PeerConnection any = *connection;
      any.channels = 0;
      channels[speaker + fact_to_json(Fact(any))] += connection->channels;
    } else if (const auto* setting = std::get_if<Setting>(&event.fact)) {
      settings.insert(speaker + setting->group + " " + setting->name + " " + setting->value);
    } else {
      in_order.push_back(place + speaker + json + " " + event.text);
    }
  }

  void add(const Batch& batch) {
    for (const Event& event : batch.events) add(batch, event);
  }

  bool operator==(const FactsOfSource&) const = default;
};

}  // namespace faultline
