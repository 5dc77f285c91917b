#include "parsers/nccl/nccl_inspector.h"

#include <algorithm>

#include "parsers/json/json_walker.h"
#include "parsers/nccl/ncclras_words.h"

namespace faultline {
namespace {

class Record : public JsonSink {
 public:
  void value(std::string_view path, const JsonValue& value) override {
    if (path == "header/id") {
      report_.communicator_id = communicator_id_of(value.text).value_or("");
    } else if (path == "header/rank") {
      report_.rank = small(value);
    } else if (path == "header/n_ranks") {
      report_.nranks = small(value);
    } else if (path == "metadata/hostname") {
      report_.host = value.text;
    } else if (path == "metadata/pid") {
      report_.pid = std::max(value.integer().value_or(0), 0L);
    } else if (path == "metadata/dump_timestamp_us") {
      time_us_ = value.integer().value_or(0);
    } else if (path == "coll_perf/coll") {
      report_.operation = value.text;
    } else if (path == "coll_perf/coll_sn") {
      // The Inspector counts from 0, ncclras from 1.
      if (auto number = value.count(); number && *number < UINT64_MAX)
        report_.completed = *number + 1;
    } else if (path == "p2p_perf/p2p") {
      point_to_point_ = true;
    }
  }

  bool is_ours() const { return !report_.communicator_id.empty() && report_.rank >= 0; }

  // Each rank counts its own sends and receives: the numbers of two ranks cannot be compared.
  bool tells() const { return !point_to_point_ && report_.completed && !report_.operation.empty(); }

  Reading take() {
    Reading reading{.fact = {}, .host = report_.host, .pid = report_.pid, .device = -1, .time = {}};
    if (time_us_ > 0) reading.time = Timestamp(std::chrono::microseconds(time_us_));
    report_.tool = "inspector";
    reading.fact = std::move(report_);
    return reading;
  }

 private:
  static int small(const JsonValue& value) {
    const auto number = value.integer();
    return number && *number >= 0 && *number <= INT32_MAX ? static_cast<int>(*number) : -1;
  }

  RankReport report_;
  std::int64_t time_us_ = 0;
  bool point_to_point_ = false;
};

}  // namespace

bool parse_nccl_inspector(std::string_view text, std::vector<Reading>& readings) {
  bool ours = false;
  // Two threads may write into one line.
  while (text.starts_with('{')) {
    Record record;
    JsonWalker walker;
    if (walker.read(text, record) != JsonWalker::State::complete || !record.is_ours()) break;
    ours = true;
    if (record.tells()) readings.push_back(record.take());
    text = walker.rest();
  }
  return ours;
}

}  // namespace faultline
