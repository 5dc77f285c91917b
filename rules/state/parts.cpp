#include "rules/state/parts.h"

#include <algorithm>
#include <functional>

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

void insert_in_time(std::vector<PartSample>& samples, PartSample sample) {
  auto at = samples.end();
  while (at != samples.begin() &&
         order_of(sample.line->time, (at - 1)->line->time, true) == Order::before)
    --at;
  samples.insert(at, std::move(sample));
}

// Of three equal values in a row, the middle one adds nothing.
void thin_out(std::vector<PartSample>& samples) {
  for (std::size_t i = 1; i + 1 < samples.size(); ++i)
    if (samples[i - 1].value == samples[i].value && samples[i].value == samples[i + 1].value) {
      samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  if (samples.size() > kMostSamples) samples.erase(samples.begin() + 1);
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
  record->last = line;
  for (const NamedValue& value : report->values) add(*record, value, line);
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
    return;
  }
  auto series = std::ranges::find(record.values, name, &PartSeries::name);
  if (series == record.values.end()) {
    if (record.values.size() >= kMostValues || series_ >= kMostSeries) {
      ++values_left_out_;
      return;
    }
    ++series_;
    record.values.push_back({.name = name, .samples = {}});
    series = record.values.end() - 1;
  }
  insert_in_time(series->samples, {value.value.substr(0, kLongest), line});
  thin_out(series->samples);
}

const PartSeries* Parts::find(const PartRecord& record, std::string_view name) const {
  const Word word = words_.find(name);
  const auto found = std::ranges::find(record.values, word, &PartSeries::name);
  return word == kNoWord || found == record.values.end() ? nullptr : &*found;
}

}  // namespace faultline
