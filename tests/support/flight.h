// The content of one process's Flight Recorder, in a few words.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "model/ranks.h"

namespace faultline {

struct RecordedOperation {
  std::string operation = "nccl:all_reduce";
  char state = 'c';  // as in FlightRecorderGroup::states
  std::int64_t sequence = 0;
  std::int64_t p2p_sequence = 0;
  std::string sizes = "[[1024]]";
  std::string dtypes = "Float";
  bool point_to_point = false;
  std::string stack = {};
};

class Recorder {
 public:
  // Adds or changes a group, by name.
  void group(const std::string& name, const std::vector<int>& members) {
    FlightRecorderGroup& group = named(name);
    group.description = name + "_desc";
    group.members = to_text(members);
  }

  void status(const std::string& name, std::int64_t enqueued, std::int64_t started,
              std::int64_t completed) {
    FlightRecorderGroup& group = named(name);
    group.last_enqueued = enqueued;
    group.last_started = started;
    group.last_completed = completed;
  }

  // The number by which this process knows the group.
  void local_id(const std::string& name, std::int64_t id) { named(name).local_id = id; }

  void record(const std::string& name, const RecordedOperation& said) {
    FlightRecorderGroup& group = named(name);
    const FlightSignature signature{said.operation, said.sizes,  said.sizes,
                                    said.dtypes,    said.dtypes, said.point_to_point};
    auto known = std::find(group.signatures.begin(), group.signatures.end(), signature);
    group.signature.push_back(static_cast<std::uint32_t>(known - group.signatures.begin()));
    if (known == group.signatures.end()) group.signatures.push_back(signature);
    group.states += said.state;
    Last& last = last_[name];
    push(group.sequence, last.sequence, said.sequence);
    push(group.p2p_sequence, last.p2p_sequence, said.p2p_sequence);
    push(group.record, last.record, records_);
    push(group.created_us, last.created_us, start_us + 1'000'000 * records_);
    ++records_;
    if (said.stack.empty() && (said.state == 'c' || said.state == 'C')) return;
    FlightDetail detail{.entry = static_cast<std::uint32_t>(group.signature.size() - 1)};
    if (!said.stack.empty()) {
      detail.stack = static_cast<int>(group.stacks.size());
      group.stacks.push_back(said.stack);
    }
    group.details.push_back(detail);
  }

  // Acts as if the ring had held these records before and lost them.
  void lose(std::int64_t records) { records_ += records; }

  // The content as a batch, as if read from a dump.
  Batch batch(std::uint64_t offset = 0) const {
    Batch batch;
    batch.speakers.emplace_back();
    const auto add = [&](const Fact& fact, const std::string& text) {
      Event& event = batch.events.emplace_back();
      event.order = static_cast<std::uint32_t>(batch.events.size());
      event.line = 1;
      event.offset = offset;
      event.time =
          EventTime::at(Timestamp(std::chrono::microseconds(start_us + 1'000'000 * records_)));
      event.fact = fact;
      event.text = text;
    };
    FlightRecorderDump head = about;
    head.entries = static_cast<std::uint64_t>(records_);
    add(head, "Flight Recorder dump");
    for (const FlightRecorderGroup& group : groups_) add(group, "process group " + group.name);
    batch.end = SourceEnd::whole;
    return batch;
  }

  FlightRecorderDump about{.form = "pickle", .version = "2.10", .has_entries = true};
  std::int64_t start_us = 1'741'142'831'000'000;

 private:
  struct Last {
    std::int64_t sequence = 0;
    std::int64_t p2p_sequence = 0;
    std::int64_t record = 0;
    std::int64_t created_us = 0;
  };

  FlightRecorderGroup& named(const std::string& name) {
    const auto known = std::ranges::find(groups_, name, &FlightRecorderGroup::name);
    if (known != groups_.end()) return *known;
    groups_.emplace_back().name = name;
    return groups_.back();
  }

  static void push(std::vector<std::int64_t>& column, std::int64_t& before, std::int64_t value) {
    column.push_back(value - std::exchange(before, value));
  }

  std::vector<FlightRecorderGroup> groups_;
  std::map<std::string, Last> last_;
  std::int64_t records_ = 0;
};

}  // namespace faultline
