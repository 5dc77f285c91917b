#include "ingest/unwrap/shipper_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>

#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

using simdjson::ondemand::json_type;

enum class Slot { line, time, host, label, program };

// Fields by their path. If a record has several for one slot, the upper row counts.
struct ShippedField {
  Slot slot;
  std::string_view path;
};

constexpr ShippedField kShippedFields[] = {
    {Slot::line, "details.message"},      // a line that a node's monitor quotes
    {Slot::line, "message"},              // Vector, Filebeat, Logstash, rsyslog
    {Slot::line, "log"},                  // Fluent Bit, Docker
    {Slot::line, "msg"},                  // programs that log JSON themselves
    {Slot::line, "MESSAGE"},              // Fluent Bit of a journal
    {Slot::line, "event"},                // Splunk's HTTP event collector
    {Slot::line, "textPayload"},          // Google Cloud Logging
    {Slot::line, "line"},                 // Promtail, Fluentd's tail
    {Slot::line, "_msg"},                 // VictoriaLogs
    {Slot::line, "body"},                 // OpenTelemetry
    {Slot::line, "Body"},                 // OpenTelemetry's file and ClickHouse exporters
    {Slot::line, "_raw"},                 // a search exported from Splunk
    {Slot::line, "body.stringValue"},     // OpenTelemetry's own JSON
    {Slot::line, "event.message"},        // Splunk's, structured
    {Slot::line, "event.original"},       // Elastic's, where the line was parsed
    {Slot::line, "jsonPayload.message"},  // Google Cloud Logging
    {Slot::line, "jsonPayload.MESSAGE"},
    {Slot::line, "_source.message"},  // a search exported from Elasticsearch
    {Slot::line, "_source.log"},
    {Slot::line, "result._raw"},         // a search exported from Splunk
    {Slot::line, "attributes.message"},  // Datadog

    {Slot::time, "time"},
    {Slot::time, "timestamp"},
    {Slot::time, "@timestamp"},
    {Slot::time, "_source.@timestamp"},
    {Slot::time, "ts"},
    {Slot::time, "date"},
    {Slot::time, "Timestamp"},
    {Slot::time, "timeUnixNano"},
    {Slot::time, "_time"},

    {Slot::host, "kubernetes.host"},
    {Slot::host, "kubernetes.node_name"},
    {Slot::host, "kubernetes.node.name"},
    {Slot::host, "kubernetes.pod_node_name"},
    {Slot::host, "node_name"},
    {Slot::host, "_HOSTNAME"},
    {Slot::host, "host"},
    {Slot::host, "hostname"},
    {Slot::host, "host.hostname"},
    {Slot::host, "host.name"},
    {Slot::host, "_source.host.name"},
    {Slot::host, "_source.host"},
    {Slot::host, "agent.hostname"},
    {Slot::host, "labels.compute.googleapis.com/resource_name"},
    {Slot::host, "resource.labels.node_name"},

    {Slot::label, "kubernetes.pod_name"},
    {Slot::label, "kubernetes.pod.name"},

    {Slot::program, "_TRANSPORT"},
    {Slot::program, "SYSLOG_IDENTIFIER"},
    {Slot::program, "syslog_identifier"},
    {Slot::program, "appname"},
    {Slot::program, "programname"},
};
constexpr std::size_t kSlots = 5;

// Fields of events whose message is no log line, because their fields say it all: NVSentinel's.
constexpr std::array<std::string_view, 3> kOfEvents{"entitiesImpacted", "entities_impacted",
                                                    "HealthEvent"};

constexpr std::size_t kLongestPath = 64;
constexpr int kDeepest = 4;
constexpr std::size_t kMaxNameBytes = 256;  // of a host or a program

bool leads_to_a_field(std::string_view path) {
  for (const ShippedField& field : kShippedFields)
    if (field.path.size() > path.size() && field.path[path.size()] == '.' &&
        field.path.starts_with(path))
      return true;
  return false;
}

// Seconds since 1970 with a fraction or without, milliseconds, microseconds or nanoseconds.
std::optional<EventTime> epoch_stamp(std::string_view text) {
  std::int64_t whole = 0;
  constexpr std::size_t kSecondsDigits = 10;
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  if (digits.size() < kSecondsDigits || digits.size() > 19) return std::nullopt;
  // Make it microseconds: six digits behind the point, wherever it stands.
  std::string number(digits);
  std::string_view rest = text.substr(digits.size());
  std::size_t known = 0;
  if (take(rest, '.')) {
    const std::string_view fraction = take_while(rest, is_digit);
    number += fraction;
    known = fraction.size();
  }
  if (!rest.empty()) return std::nullopt;
  const std::size_t finer = (digits.size() - kSecondsDigits) / 3 * 3;  // 3: milliseconds ...
  const std::size_t length = digits.size() - finer + 6;
  if (digits.size() - finer != kSecondsDigits) return std::nullopt;
  known += finer;
  number.resize(length, '0');
  std::string_view all = number;
  if (!take_number(all, whole)) return std::nullopt;
  std::int64_t uncertainty = 1'000'000;
  for (std::size_t digit = 0; digit < std::min<std::size_t>(known, 6); ++digit) uncertainty /= 10;
  return EventTime::at(Timestamp(std::chrono::microseconds(whole)),
                       std::chrono::microseconds(known >= 6 ? 0 : uncertainty));
}

struct ShippedRecord {
  std::array<std::size_t, kSlots> best{std::size(kShippedFields), std::size(kShippedFields),
                                       std::size(kShippedFields), std::size(kShippedFields),
                                       std::size(kShippedFields)};
  std::array<std::string_view, kSlots> text;
  EventTime time;

  void set(std::size_t index, std::string_view value) {
    const Slot slot = kShippedFields[index].slot;
    const auto at = static_cast<std::size_t>(slot);
    if (index > best[at]) return;
    if (slot == Slot::time) {
      const auto iso = take_iso_stamp(value);
      const auto stamp = iso ? std::optional(iso->time) : epoch_stamp(value);
      if (!stamp) return;
      time = *stamp;
    } else if (slot != Slot::line && value.size() > kMaxNameBytes) {
      return;
    }
    best[at] = index;
    text[at] = value;
  }
  bool has(Slot slot) const {
    return best[static_cast<std::size_t>(slot)] < std::size(kShippedFields);
  }
  std::string_view of(Slot slot) const { return text[static_cast<std::size_t>(slot)]; }
};

bool set_shipped(simdjson::ondemand::value& value, json_type type, std::size_t index,
                 ShippedRecord& record) {
  std::string_view text;
  if (type == json_type::string) {
    if (value.get_string().get(text)) return false;
    record.set(index, text);
  } else if (type == json_type::number && kShippedFields[index].slot == Slot::time) {
    text = value.raw_json_token();
    while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
    record.set(index, text);
  }
  return true;
}

// `path`: the path of the object, to which those of its fields are added.
bool read_shipped(simdjson::ondemand::object object, std::string& path, int depth,
                  ShippedRecord& record) {
  const std::size_t length = path.size();
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    json_type type{};
    if (field.unescaped_key().get(key) || field.value().get(value) || value.type().get(type))
      return false;
    if (std::ranges::find(kOfEvents, key) != kOfEvents.end()) return false;
    if (length + key.size() >= kLongestPath) continue;
    path.resize(length);
    if (length > 0) path += '.';
    path += key;
    if (type == json_type::object) {
      simdjson::ondemand::object inner;
      if (depth == kDeepest || !leads_to_a_field(path)) continue;
      if (value.get_object().get(inner) || !read_shipped(inner, path, depth + 1, record))
        return false;
      continue;
    }
    for (std::size_t i = 0; i < std::size(kShippedFields); ++i)
      if (kShippedFields[i].path == path && !set_shipped(value, type, i, record)) return false;
  }
  return true;
}

bool read_shipped(std::string_view text, JsonText& json, ShippedRecord& record) {
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  std::string path;
  return json.open(text, document) && !document.get_object().get(object) &&
         read_shipped(object, path, 1, record) && at_end(document) && record.has(Slot::line);
}

}  // namespace

std::vector<std::string_view> split_records(std::string_view text, std::size_t at_most) {
  std::vector<std::string_view> records;
  std::size_t begin = 0;
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_text = false;
    } else if (c == '{' || (c == '[' && depth > 0)) {
      if (depth++ == 0) begin = at;
    } else if ((c == '}' || c == ']') && depth > 0) {
      if (--depth > 0) continue;
      if (records.size() == at_most) return {};
      records.push_back(text.substr(begin, at + 1 - begin));
    } else if (c == '"' && depth > 0) {
      in_text = true;
    } else if (depth == 0 && c != ',' && c != ']' && c != '\r' && !is_blank(c)) {
      return {};
    }
  }
  if (depth > 0) records.clear();
  return records;
}

Step peel_shipper_json(Peeled& line, JsonText& json, TextPool& pool) {
  ShippedRecord record;
  if (!read_shipped(line.text, json, record)) return Step::not_mine;
  if (record.has(Slot::time)) line.stamped(record.time);
  line.named_by_label(pool.copy(record.of(Slot::label)));
  line.named_by_host(pool.copy(record.of(Slot::host)));
  if (record.has(Slot::program)) {
    const std::string_view program = record.of(Slot::program);
    line.in_kernel = program == "kernel";
    line.from_user_space = !line.in_kernel;
    if (!line.in_kernel) line.program = pool.copy(program);
  }
  std::string_view text = record.of(Slot::line);
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  line.text = without_control_bytes(pool.copy(text), pool);
  return Step::peeled;
}

bool is_shipper_json(std::string_view object) {
  JsonText json;
  ShippedRecord record;
  return read_shipped(object, json, record);
}

std::string names_of_line_fields() {
  std::string names;
  for (const ShippedField& field : kShippedFields) {
    if (field.slot != Slot::line || field.path.find('.') != std::string_view::npos) continue;
    if (!names.empty()) names += ", ";
    names += field.path;
  }
  return names;
}

bool names_a_line_field(std::string_view text) {
  for (const ShippedField& field : kShippedFields) {
    if (field.slot != Slot::line) continue;
    const std::string_view key = field.path.substr(field.path.rfind('.') + 1);
    for (std::size_t at = text.find(key, 1); at != std::string_view::npos;
         at = text.find(key, at + 1)) {
      // The name may stand behind a point, if the names of a path are joined into one.
      if (text[at - 1] != '"' && text[at - 1] != '.') continue;
      if (text.substr(at + key.size()).starts_with('"')) return true;
    }
  }
  return false;
}

}  // namespace faultline
