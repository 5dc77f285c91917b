#include "doors/otlp.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <boost/json.hpp>

#include <bit>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include "doors/json_document.h"
#include "doors/json_labels.h"
#include "doors/protobuf.h"

namespace faultline {
namespace {

namespace dom = simdjson::dom;
namespace json = boost::json;

constexpr std::int64_t kNanosInMicro = 1'000;

Error bad(std::string_view what) {
  return {Error::Kind::invalid_input, fmt::format("this is no ExportLogsServiceRequest: {}", what)};
}

std::optional<Timestamp> time_in(std::int64_t nanos) {
  if (nanos <= 0) return std::nullopt;
  return Timestamp(std::chrono::microseconds(nanos / kNanosInMicro));
}

constexpr int kDeepestBody = 16;

// What one record is, wherever it was read from.
struct OtlpRecord {
  std::optional<Timestamp> time;
  std::optional<Timestamp> observed;
  json::value body;

  void give(RecordVisitor& visitor) {
    const auto when = time ? time : observed;
    json::object* fields = body.if_object();
    if (fields == nullptr) {
      if (const json::string* text = body.if_string())
        visitor.message(when, *text);
      else
        visitor.message(when, body.is_null() ? std::string() : json::serialize(body));
      return;
    }
    // A record of the journal, for example, whose fields have the names that the journal gives.
    if (when && !fields->contains("time")) (*fields)["time"] = to_rfc3339(*when);
    for (const auto& [name, value] : *fields)
      if (value.is_string()) visitor.label(name, value.get_string());
    visitor.object(json::serialize(*fields));
  }
};

// The values of protobuf: AnyValue{1: text, 2: truth, 3: integer, 4: double, 5: array, 6: list of
// KeyValue, 7: bytes}
struct AnyValue {
  std::uint32_t kind = 0;
  std::string_view bytes;
  std::uint64_t number = 0;

  std::string text() const {
    switch (kind) {
      case 1:
      case 7:
        return std::string(bytes);
      case 2:
        return number != 0 ? "true" : "false";
      case 3:
        return fmt::format("{}", static_cast<std::int64_t>(number));
      case 4:
        return fmt::format("{}", std::bit_cast<double>(number));
      default:
        return {};
    }
  }
};

bool read_any(std::string_view message, AnyValue& value) {
  ProtobufFields fields(message);
  for (ProtobufFields::Field field; fields.next(field);)
    value = {.kind = field.number, .bytes = field.bytes, .number = field.value};
  return fields.sound();
}

// KeyValue{1: key, 2: AnyValue}
bool read_key_value(std::string_view message, std::string_view& key, AnyValue& value) {
  ProtobufFields fields(message);
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) sound = read_any(field.bytes, value) && sound;
  }
  return sound && fields.sound();
}

template <class Give>
bool read_attribute(std::string_view message, Give give) {
  std::string_view key;
  AnyValue value;
  if (!read_key_value(message, key, value)) return false;
  if (const std::string text = value.text(); !text.empty()) give(key, text);
  return true;
}

// ArrayValue{1: AnyValue}, KeyValueList{1: KeyValue}
bool read_value(const AnyValue& any, int depth, json::value& value) {
  constexpr std::uint32_t kArray = 5;
  constexpr std::uint32_t kFields = 6;
  if (any.kind != kArray && any.kind != kFields) {
    value = any.text();
    return true;
  }
  if (depth > kDeepestBody) return true;
  bool sound = true;
  json::array array;
  json::object object;
  ProtobufFields fields(any.bytes);
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number != 1) continue;
    std::string_view key;
    AnyValue inner;
    sound = (any.kind == kArray ? read_any(field.bytes, inner)
                                : read_key_value(field.bytes, key, inner)) &&
            sound;
    json::value read;
    sound = read_value(inner, depth + 1, read) && sound;
    if (any.kind == kArray)
      array.push_back(std::move(read));
    else
      object[key] = std::move(read);
  }
  if (any.kind == kArray)
    value = std::move(array);
  else
    value = std::move(object);
  return sound && fields.sound();
}

bool read_body(std::string_view message, OtlpRecord& record) {
  AnyValue any;
  return read_any(message, any) && read_value(any, 1, record.body);
}

// LogRecord{1: time, 5: body, 6: attributes, 11: observed time}
bool read_record(std::string_view message, RecordVisitor& visitor) {
  ProtobufFields fields(message);
  OtlpRecord record;
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number == 1) record.time = time_in(static_cast<std::int64_t>(field.value));
    if (field.number == 5) sound = read_body(field.bytes, record) && sound;
    if (field.number == 6)
      sound =
          read_attribute(field.bytes, [&](std::string_view key,
                                          const std::string& text) { visitor.label(key, text); }) &&
          sound;
    if (field.number == 11) record.observed = time_in(static_cast<std::int64_t>(field.value));
  }
  record.give(visitor);
  return sound && fields.sound();
}

// ScopeLogs{2: LogRecord}
bool read_scope(std::string_view message, RecordVisitor& visitor) {
  ProtobufFields fields(message);
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);)
    if (field.number == 2) sound = read_record(field.bytes, visitor) && sound;
  return sound && fields.sound();
}

// ResourceLogs{1: Resource{1: attributes}, 2: ScopeLogs}
bool read_resource(std::string_view message, RecordVisitor& visitor) {
  visitor.begin_stream();
  bool sound = true;
  ProtobufFields resources(message);
  for (ProtobufFields::Field field; resources.next(field);) {
    if (field.number != 1) continue;
    ProtobufFields attributes(field.bytes);
    for (ProtobufFields::Field attribute; attributes.next(attribute);)
      if (attribute.number == 1)
        sound = read_attribute(attribute.bytes,
                               [&](std::string_view key, const std::string& text) {
                                 visitor.stream_label(key, text);
                               }) &&
                sound;
    sound = sound && attributes.sound();
  }
  ProtobufFields scopes(message);
  for (ProtobufFields::Field field; scopes.next(field);)
    if (field.number == 2) sound = read_scope(field.bytes, visitor) && sound;
  return sound && resources.sound();
}

// The same as JSON: {"stringValue":"…"}, and 64-bit integers as texts.
std::string text_of_any(dom::element any) {
  dom::object object;
  if (any.get_object().get(object)) return {};
  std::string room;
  for (const auto& [kind, value] : object) return std::string(text_of(value, room));
  return {};
}

json::value value_of_any(dom::element any, int depth) {
  dom::array values;
  if (depth <= kDeepestBody && !any["arrayValue"]["values"].get_array().get(values)) {
    json::array array;
    for (const dom::element value : values) array.push_back(value_of_any(value, depth + 1));
    return array;
  }
  if (depth <= kDeepestBody && !any["kvlistValue"]["values"].get_array().get(values)) {
    json::object object;
    for (const dom::element field : values) {
      std::string_view key;
      dom::element value;
      if (!field["key"].get_string().get(key) && !field["value"].get(value))
        object[key] = value_of_any(value, depth + 1);
    }
    return object;
  }
  return json::value(text_of_any(any));
}

template <class Give>
void read_attributes(dom::element holder, Give give) {
  dom::array attributes;
  if (holder["attributes"].get_array().get(attributes)) return;
  for (const dom::element attribute : attributes) {
    std::string_view key;
    dom::element value;
    if (attribute["key"].get_string().get(key) || attribute["value"].get(value)) continue;
    if (const std::string text = text_of_any(value); !text.empty()) give(key, text);
  }
}

std::optional<Timestamp> time_of(dom::element record, std::string_view name) {
  dom::element value;
  if (record[name].get(value)) return std::nullopt;
  std::string room;
  const std::string_view text = text_of(value, room);
  std::int64_t nanos = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nanos);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return time_in(nanos);
}

void read_record(dom::element element, RecordVisitor& visitor) {
  read_attributes(element,
                  [&](std::string_view key, const std::string& text) { visitor.label(key, text); });
  OtlpRecord record{.time = time_of(element, "timeUnixNano"),
                    .observed = time_of(element, "observedTimeUnixNano")};
  dom::element body;
  if (!element["body"].get(body)) record.body = value_of_any(body, 1);
  record.give(visitor);
}

}  // namespace

Result<void> read_otlp_json(std::string_view body, RecordVisitor& visitor) {
  dom::parser parser;
  dom::element root;
  if (parse_json(parser, body, root)) return bad("its JSON cannot be read");
  if (!root.is_object()) return bad("it is no object");
  dom::array resources;
  // A request without logs is a good one.
  if (root["resourceLogs"].get_array().get(resources)) return {};
  for (const dom::element resource : resources) {
    visitor.begin_stream();
    dom::element holder;
    if (!resource["resource"].get(holder))
      read_attributes(holder, [&](std::string_view key, const std::string& text) {
        visitor.stream_label(key, text);
      });
    dom::array scopes;
    if (resource["scopeLogs"].get_array().get(scopes)) continue;
    for (const dom::element scope : scopes) {
      dom::array records;
      if (scope["logRecords"].get_array().get(records)) continue;
      for (const dom::element record : records) read_record(record, visitor);
    }
  }
  return {};
}

Result<void> read_otlp_protobuf(std::string_view body, RecordVisitor& visitor) {
  ProtobufFields fields(body);
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);)
    if (field.number == 1) sound = read_resource(field.bytes, visitor) && sound;
  if (!sound || !fields.sound()) return bad("the protobuf message is damaged");
  return {};
}

// {1: partial_success{1: rejected_log_records, 2: error_message}}
std::string otlp_answer(bool as_json, std::uint64_t refused, const std::string& why) {
  if (as_json) {
    json::object answer;
    if (refused > 0)
      answer["partialSuccess"] = {{"rejectedLogRecords", fmt::format("{}", refused)},
                                  {"errorMessage", why}};
    return json::serialize(answer);
  }
  if (refused == 0) return {};
  ProtobufWriter partial;
  partial.number(1, refused).bytes(2, why);
  return ProtobufWriter().message(1, partial).message();
}

std::string otlp_status(bool as_json, int code, const std::string& message) {
  if (as_json) return json::serialize(json::object{{"code", code}, {"message", message}});
  return ProtobufWriter().number(1, static_cast<std::uint64_t>(code)).bytes(2, message).message();
}

}  // namespace faultline
