#include "doors/loki.h"

#include <fmt/format.h>
#include <simdjson.h>

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

constexpr std::int64_t kNanosInMicro = 1'000;
constexpr std::int64_t kMicrosInSecond = 1'000'000;

Error bad(std::string_view what) {
  return {Error::Kind::invalid_input, fmt::format("this is no push of Loki: {}", what)};
}

std::optional<Timestamp> time_in_nanos(std::string_view text) {
  std::int64_t nanos = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nanos);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Timestamp(std::chrono::microseconds(nanos / kNanosInMicro));
}

void read_value(dom::element value, RecordVisitor& visitor) {
  dom::array parts;
  std::string_view line;
  std::string_view time;
  if (value.get_array().get(parts) || parts.at(0).get_string().get(time) ||
      parts.at(1).get_string().get(line)) {
    visitor.unreadable();
    return;
  }
  dom::object metadata;
  std::string path;
  if (!parts.at(2).get_object().get(metadata))
    give_labels(metadata, path,
                [&](std::string_view name, std::string_view text) { visitor.label(name, text); });
  visitor.message(time_in_nanos(time), line);
}

// {job="llama",host="gpu-3"}, with the escapes of Go.
bool read_label_set(std::string_view text, RecordVisitor& visitor) {
  constexpr std::string_view kBlanks = " \t";
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  };
  const auto take = [&](char c) {
    skip_blanks();
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!take('{')) return false;
  while (!take('}')) {
    skip_blanks();
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    if (!take('"')) return false;
    std::string value;
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\') text.remove_prefix(1);
      if (text.empty()) return false;
      value += text.front();
      text.remove_prefix(1);
    }
    if (!take('"')) return false;
    visitor.stream_label(name, value);
    take(',');
  }
  return true;
}

// Timestamp{1: seconds, 2: nanoseconds}
std::optional<Timestamp> time_of(std::string_view message) {
  ProtobufFields fields(message);
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number == 1) seconds = static_cast<std::int64_t>(field.value);
    if (field.number == 2) nanos = static_cast<std::int64_t>(field.value);
  }
  constexpr std::int64_t kMostSeconds = INT64_MAX / kMicrosInSecond - 1;
  if (!fields.sound() || seconds <= 0 || seconds > kMostSeconds || nanos < 0 ||
      nanos >= kNanosInMicro * kMicrosInSecond)
    return std::nullopt;
  return Timestamp(std::chrono::microseconds(seconds * kMicrosInSecond + nanos / kNanosInMicro));
}

// LabelPair{1: name, 2: value}
bool read_pair(std::string_view message, RecordVisitor& visitor) {
  ProtobufFields fields(message);
  std::string_view name;
  std::string_view value;
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number == 1) name = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  visitor.label(name, value);
  return fields.sound();
}

// Entry{1: Timestamp, 2: line, 3: structured metadata}
bool read_entry(std::string_view message, RecordVisitor& visitor) {
  ProtobufFields fields(message);
  std::optional<Timestamp> time;
  std::string_view line;
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);) {
    if (field.number == 1) time = time_of(field.bytes);
    if (field.number == 2) line = field.bytes;
    if (field.number == 3) sound = read_pair(field.bytes, visitor) && sound;
  }
  visitor.message(time, line);
  return sound && fields.sound();
}

// Stream{1: labels, 2: entries}
bool read_stream(std::string_view message, RecordVisitor& visitor) {
  visitor.begin_stream();
  bool sound = true;
  ProtobufFields labels(message);
  for (ProtobufFields::Field field; labels.next(field);)
    if (field.number == 1) sound = read_label_set(field.bytes, visitor) && sound;
  ProtobufFields entries(message);
  for (ProtobufFields::Field field; entries.next(field);)
    if (field.number == 2) sound = read_entry(field.bytes, visitor) && sound;
  return sound && labels.sound();
}

}  // namespace

Result<void> read_loki_json(std::string_view body, RecordVisitor& visitor) {
  dom::parser parser;
  dom::array streams;
  dom::element root;
  if (parse_json(parser, body, root)) return bad("its JSON cannot be read");
  if (root["streams"].get_array().get(streams)) return bad("it has no list \"streams\"");
  for (const dom::element stream : streams) {
    visitor.begin_stream();
    dom::object labels;
    dom::array values;
    std::string path;
    if (!stream["stream"].get_object().get(labels))
      give_labels(labels, path, [&](std::string_view name, std::string_view text) {
        visitor.stream_label(name, text);
      });
    if (stream["values"].get_array().get(values)) return bad("a stream has no list \"values\"");
    for (const dom::element value : values) read_value(value, visitor);
  }
  return {};
}

Result<void> read_loki_protobuf(std::string_view body, RecordVisitor& visitor) {
  ProtobufFields fields(body);
  bool sound = true;
  for (ProtobufFields::Field field; fields.next(field);)
    if (field.number == 1) sound = read_stream(field.bytes, visitor) && sound;
  if (!sound || !fields.sound()) return bad("the protobuf message is damaged");
  return {};
}

}  // namespace faultline
