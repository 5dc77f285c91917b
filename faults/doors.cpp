#include "faults/doors.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <string_view>

namespace faultline::faults {
namespace {

namespace json = boost::json;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kLinesOfJson = "application/x-ndjson";

void each_line(std::string_view text, const std::function<void(std::string_view line)>& take) {
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    take(text.substr(0, end));
}

// The file that the shipper read; the server puts the host before it.
std::string file_of(const SentSource& source) {
  return source.name.substr(source.name.find('/') + 1);
}

json::object labels_of(const SentSource& source) {
  return {{"faultline_job", source.job}, {"host", source.host()}, {"filename", file_of(source)}};
}

// Every message has this time; the server puts it before the line if the line is not JSON.
constexpr std::string_view kNanoseconds = "1772679449000000000";
constexpr std::string_view kStamp = "2026-03-05T02:57:29Z stdout F ";

std::string list_of_json(std::string_view text) {
  std::string list = "[";
  each_line(text, [&](std::string_view line) { list.append(line) += ','; });
  list.back() = ']';
  return list;
}

std::string bulk(std::string_view text) {
  std::string body;
  each_line(text,
            [&](std::string_view line) { (body += "{\"create\":{}}\n").append(line) += '\n'; });
  return body;
}

std::string loki(const SentSource& source, std::string_view text) {
  json::array values;
  each_line(text, [&](std::string_view line) {
    values.push_back(json::array{kNanoseconds, line.substr(kStamp.size())});
  });
  const json::object stream{{"stream", labels_of(source)}, {"values", std::move(values)}};
  return json::serialize(json::object{{"streams", json::array{stream}}});
}

std::string otlp(const SentSource& source, std::string_view text) {
  json::array attributes;
  for (const auto& [name, value] : labels_of(source))
    attributes.push_back({{"key", name}, {"value", {{"stringValue", value}}}});
  json::array records;
  each_line(text, [&](std::string_view line) {
    records.push_back(
        {{"timeUnixNano", kNanoseconds}, {"body", {{"stringValue", line.substr(kStamp.size())}}}});
  });
  const json::object scope{{"logRecords", std::move(records)}};
  const json::object logs{{"resource", {{"attributes", std::move(attributes)}}},
                          {"scopeLogs", json::array{scope}}};
  return json::serialize(json::object{{"resourceLogs", json::array{logs}}});
}

std::int64_t next_offset_in(const Answer& answer) {
  boost::system::error_code error;
  const json::value value = json::parse(answer.body, error);
  if (error || !value.is_object()) return -1;
  const json::value* offset = value.as_object().if_contains("next_offset");
  return offset != nullptr && offset->is_int64() ? offset->as_int64() : -1;
}

// What an answer holds only if it took all messages.
std::string_view all_taken_of(Door door) {
  switch (door) {
    case Door::json_lines:
    case Door::json_list:
      return "\"refused\":0,";
    case Door::otlp:
      return "{}";
    case Door::elastic:
      return "\"errors\":false";
    case Door::splunk:
      return "\"code\":0";
    case Door::raw:
    case Door::loki:
      break;
  }
  return "never";  // these say it by the status
}

Taken taken_if(bool all) { return all ? Taken::all : Taken::wrong; }

}  // namespace

std::string as_stored(const SentSource& source, std::string_view line) {
  json::object object = labels_of(source);
  switch (source.door) {
    case Door::raw:
      return std::string(line);
    case Door::loki:
    case Door::otlp:
      return std::string(kStamp).append(line);
    case Door::splunk:
      return json::serialize(json::object{{"host", source.host()},
                                          {"source", file_of(source)},
                                          {"fields", {{"faultline_job", source.job}}},
                                          {"event", line}});
    case Door::json_lines:
    case Door::json_list:
    case Door::elastic:
      break;
  }
  object["message"] = line;
  return json::serialize(object);
}

Shipment shipment_of(const SentSource& source, const SentBody& body) {
  const std::string text(source.text_of(body));
  const auto pushed = [](std::string_view target, std::string_view type, std::string bytes) {
    return Shipment{
        .method = "POST", .target = std::string(target), .type = type, .body = std::move(bytes)};
  };
  switch (source.door) {
    case Door::json_lines:
      return pushed("/api/v1/ingest/json", kLinesOfJson, text);
    case Door::json_list:
      return pushed("/api/v1/ingest/json", kJson, list_of_json(text));
    case Door::loki:
      return pushed("/loki/api/v1/push", kJson, loki(source, text));
    case Door::otlp:
      return pushed("/v1/logs", kJson, otlp(source, text));
    case Door::elastic:
      return pushed("/_bulk", kLinesOfJson, bulk(text));
    case Door::splunk:
      return pushed("/services/collector/event", kJson, text);
    case Door::raw:
      break;
  }
  std::string target = fmt::format("/api/v1/ingest?job={}&source={}", source.job, source.name);
  if (source.says_offset) target += fmt::format("&offset={}", body.begin);
  return {.method = "PUT", .target = std::move(target), .type = {}, .body = text};
}

Taken taken(const Answer& answer, const SentSource& source, const SentBody& body) {
  switch (answer.status) {
    case 0:    // nothing is promised
    case 408:  // too slow for it
    case 503:  // the disk refuses, or it has no more connections
      return Taken::nothing;
    case 204:
      return taken_if(source.door == Door::loki);
    case 200:
      if (source.door == Door::raw)
        return taken_if(next_offset_in(answer) == static_cast<std::int64_t>(body.end));
      // An answer may say which messages it did not take.
      return taken_if(answer.body.find(all_taken_of(source.door)) != std::string::npos);
    case 409:
      // An earlier connection of ours still has the source. A gap would be a loss: we begin where
      // the acknowledged bytes end.
      return answer.body.find("leaves a gap") == std::string::npos ? Taken::nothing : Taken::wrong;
    default:
      return Taken::wrong;
  }
}

}  // namespace faultline::faults
