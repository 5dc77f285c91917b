#include "rules/state/parts.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSeries = 4'000'000;
constexpr std::size_t kMostValues = 1024;  // of one record
constexpr std::size_t kMostNames = 32;
constexpr std::size_t kMostSamples = 6;
constexpr std::size_t kLongest = 256;
constexpr std::size_t kLongestLine = 1024;

std::string key_of(std::uint32_t source, const std::string& host, const PartReport& report) {
  std::string key = report.tool;
  auto add = [&key](std::string_view text) {
    key += '\x1f';
    key += text.substr(0, kLongest);
  };
  add(report.kind);
  add(host);
  if (host.empty()) add(std::to_string(source));
  for (const NamedValue& name : report.names) {
    add(name.name);
    add(name.value);
  }
  return key;
}

// Returns whether the sample is the last one.
bool insert_in_time(std::vector<PartSample>& samples, PartSample sample) {
  auto at = samples.end();
  while (at != samples.begin() &&
         order_of(sample.line->time, (at - 1)->line->time, true) == Order::before)
    --at;
  const bool is_last = at == samples.end();
  samples.insert(at, std::move(sample));
  return is_last;
}

// Of three equal values in a row, the middle one adds nothing. Returns its line; null: there is
// none. Only the last three may be equal if the last sample is the new one.
std::shared_ptr<const LineRef> thin_out(std::vector<PartSample>& samples, bool last_is_new) {
  const std::size_t size = samples.size();
  for (std::size_t i = last_is_new && size > 2 ? size - 2 : 1; i + 1 < size; ++i)
    if (samples[i - 1].value == samples[i].value && samples[i].value == samples[i + 1].value) {
      std::shared_ptr<const LineRef> out = std::move(samples[i].line);
      samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(i));
      return out;
    }
  return nullptr;
}

// Whether the time may be before that of another sample of the series.
bool may_be_before_others(const EventTime& time, const PartSeries& series) {
  return (time.wall_us && *time.wall_us < series.latest_us) ||
         (time.uptime_us && *time.uptime_us < series.latest_uptime_us);
}

}  // namespace

std::string_view PartRecord::name(std::string_view which) const {
  const auto found = std::ranges::find(names, which, &NamedValue::name);
  return found == names.end() ? std::string_view() : std::string_view(found->value);
}

void Parts::apply(std::uint32_t source, const Batch& batch, const Event& event) {
  const auto* report = std::get_if<PartReport>(&event.fact);
  if (report == nullptr) return;
  PartRecord* record =
      record_of(source, short_host(batch.speakers[event.speaker].host), *report, event.text);
  if (record == nullptr) return;
  const auto line = std::make_shared<const LineRef>(
      LineRef{source, event.line, event.offset, event.time, event.text.substr(0, kLongestLine)});
  if (!record->first) record->first = line;
  let_go_.push_back(std::exchange(record->last, line));
  for (const NamedValue& value : report->values) add(*record, value, line);
  count_superseded(*record);
}

void Parts::count_superseded(const PartRecord& record) {
  for (std::shared_ptr<const LineRef>& line : let_go_) {
    if (line.use_count() == 1 && !record.needs_all) ++superseded_;
    line.reset();
  }
  let_go_.clear();
}

bool ByPart::operator()(const PartRecord& a, const PartRecord& b) const {
  const auto part = [](const PartRecord& record) {
    return std::tie(record.spoken_host, record.tool, record.kind);
  };
  if (part(a) != part(b)) return part(a) < part(b);
  if (a.names == b.names) return a.begins < b.begins;
  return std::ranges::lexicographical_compare(
      a.names, b.names, [](const NamedValue& one, const NamedValue& other) {
        return std::tie(one.name, one.value) < std::tie(other.name, other.value);
      });
}

PartRecord* Parts::record_of(std::uint32_t source, const std::string& host,
                             const PartReport& report, std::string_view line) {
  if (report.names.size() > kMostNames) return nullptr;
  std::string key = key_of(source, host, report);
  const auto known = known_.find(key);
  if (known != known_.end()) return &records_[known->second];
  if (!limit_.admit(std::hash<std::string>()(report.tool + ' ' + report.kind))) return nullptr;
  PartRecord record;
  record.tool = report.tool;
  record.kind = report.kind;
  record.spoken_host = host;
  record.source = source;
  record.begins = line.substr(0, kLongest);
  for (const NamedValue& name : report.names)
    record.names.push_back({name.name.substr(0, kLongest), name.value.substr(0, kLongest)});
  const std::size_t which = records_.add(std::move(record));
  known_.emplace(std::move(key), which);
  return &records_[which];
}

void Parts::add(PartRecord& record, const NamedValue& value,
                const std::shared_ptr<const LineRef>& line) {
  const Word name = words_.learn(value.name);
  if (name == kNoWord) {
    ++values_left_out_;
    record.needs_all = true;
    return;
  }
  auto series = std::ranges::find(record.values, name, &PartSeries::name);
  if (series == record.values.end()) {
    if (record.values.size() >= kMostValues || series_ >= kMostSeries) {
      ++values_left_out_;
      record.needs_all = true;
      return;
    }
    ++series_;
    record.values.push_back({.name = name, .samples = {}, .gone = nullptr});
    series = record.values.end() - 1;
  }
  append(record, *series, {value.value.substr(0, kLongest), line});
}

void Parts::append(PartRecord& record, PartSeries& series, PartSample sample) {
  const EventTime& time = sample.line->time;
  record.needs_all |= may_be_before_others(time, series);
  series.latest_us = std::max(series.latest_us, time.wall_us.value_or(INT64_MIN));
  series.latest_uptime_us = std::max(series.latest_uptime_us, time.uptime_us.value_or(INT64_MIN));
  const bool is_last = insert_in_time(series.samples, std::move(sample));
  std::shared_ptr<const LineRef> out = thin_out(series.samples, is_last);
  if (!out && series.samples.size() > kMostSamples) {
    out = std::exchange(series.gone, std::move(series.samples[1].line));
    series.samples.erase(series.samples.begin() + 1);
  }
  let_go_.push_back(std::move(out));
}

const PartRecord* Parts::find(std::uint32_t source, const std::string& host,
                              const PartReport& report) const {
  const auto known = known_.find(key_of(source, host, report));
  return known == known_.end() ? nullptr : &records_[known->second];
}

// A series that came in the order of its times is a function of the values in the order in which
// they came: the first sample, and the last five of those that begin or end a stretch of equal
// values. With the one before these five it is the same function of any values among which these
// are, because then each of them begins or ends a stretch there, too. The first report also makes
// the record, and the first sample of a series the series.
bool Parts::needs(const PartRecord& record, std::uint32_t source, const Event& report) {
  if (record.needs_all) return true;
  const auto is_it = [&](const std::shared_ptr<const LineRef>& line) {
    return line && line->source == source && line->line == report.line &&
           line->offset == report.offset;
  };
  return is_it(record.first) || is_it(record.last) ||
         std::ranges::any_of(record.values, [&](const PartSeries& series) {
           return is_it(series.gone) ||
                  std::ranges::any_of(series.samples, is_it, &PartSample::line);
         });
}

const PartSeries* Parts::find(const PartRecord& record, std::string_view name) const {
  const Word word = words_.find(name);
  const auto found = std::ranges::find(record.values, word, &PartSeries::name);
  return word == kNoWord || found == record.values.end() ? nullptr : &*found;
}

}  // namespace faultline
