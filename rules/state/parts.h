// Parts: what tools reported about parts of machines, as they reported it. Which records are one
// part is worked out when the job is diagnosed (rules/state/ports.h, rules/state/gpus.h), because
// the line that ties them together may come last.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/batch.h"
#include "rules/state/arranged.h"
#include "rules/state/fair_limit.h"
#include "rules/state/line_ref.h"
#include "rules/state/words.h"

namespace faultline {

// All values of a report share its line.
struct PartSample {
  std::string value;
  std::shared_ptr<const LineRef> line;
};

// The values of one quantity from one tool, by time if times are known, else in the order of
// arrival. Of many samples, the first and the latest are kept; of equal ones in a row, the first
// and the last.
struct PartSeries {
  Word name = kNoWord;  // as the tool spells it
  std::vector<PartSample> samples;
  // The last sample that went because there were too many: without its report, equal samples before
  // and after it would become neighbours.
  std::shared_ptr<const LineRef> gone;
  // The latest of the times of all samples.
  std::int64_t latest_us = INT64_MIN;
  std::int64_t latest_uptime_us = INT64_MIN;
  const PartSample& last() const { return samples.back(); }
};

// One part, as one tool knows it.
struct PartRecord {
  std::string tool;
  std::string kind;
  std::string spoken_host;   // as in XidIncident
  std::uint32_t source = 0;  // the source of the first report
  std::string begins;        // the line of the first report
  std::vector<NamedValue> names;
  std::vector<PartSeries> values;
  std::shared_ptr<const LineRef> first;  // the first report
  std::shared_ptr<const LineRef> last;   // the latest report
  // What is known of it depends on every report: they did not come in the order of their times, or
  // a value was left out.
  bool needs_all = false;

  std::string_view name(std::string_view which) const;  // empty: not known
};

struct ByPart {
  bool operator()(const PartRecord& a, const PartRecord& b) const;
};

class Parts {
 public:
  using Records = Arranged<PartRecord, ByPart>;
  void apply(std::uint32_t source, const Batch& batch, const Event& event);

  const Records& records() const { return records_; }
  const std::string& text(Word word) const { return words_.text(word); }

  // nullptr: the record has no such quantity.
  const PartSeries* find(const PartRecord& record, std::string_view name) const;
  std::uint64_t left_out() const {
    return limit_.left_out() + values_left_out_;
  }  // reports over the limit

  // The record of the part that is reported; null: there is none.
  const PartRecord* find(std::uint32_t source, const std::string& host,
                         const PartReport& report) const;
  // Whether the record, and what comes of more reports, may be another one if this report of it had
  // not come, or if this one and others that are not needed had not. Of a long series few are
  // needed.
  static bool needs(const PartRecord& record, std::uint32_t source, const Event& report);
  // How many reports were needed once and are not any more, roughly.
  std::uint64_t superseded() const { return superseded_; }

 private:
  // Ports and GPUs of a large cluster, by several tools.
  static constexpr std::size_t kMostRecords = 131072;

  PartRecord* record_of(std::uint32_t source, const std::string& host, const PartReport& report,
                        std::string_view line);
  void add(PartRecord& record, const NamedValue& value, const std::shared_ptr<const LineRef>& line);
  void append(PartRecord& record, PartSeries& series, PartSample sample);
  void count_superseded(const PartRecord& record);

  Words words_;
  std::map<std::string, std::size_t> known_;
  Records records_;
  FairLimit limit_{kMostRecords};
  std::size_t series_ = 0;
  std::uint64_t values_left_out_ = 0;
  std::uint64_t superseded_ = 0;
  std::vector<std::shared_ptr<const LineRef>> let_go_;  // by the report that is applied
};

}  // namespace faultline
