#include "doors/shipped_objects.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "doors/json_document.h"
#include "doors/json_labels.h"
#include "doors/json_objects.h"
#include "model/utf8.h"

namespace faultline {
namespace {

namespace dom = simdjson::dom;

void give_object(dom::object object, std::string_view text, RecordVisitor& visitor) {
  std::string path;
  give_labels(object, path,
              [&](std::string_view name, std::string_view value) { visitor.label(name, value); });
  visitor.object(text);
}

// The text with U+FFFD in place of each byte that is not UTF-8.
std::string as_utf8(std::string_view text) {
  std::string good;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    good += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return good;
}

class ObjectReader {
 public:
  // `text`: afterwards what was read, valid until the next call.
  bool read(std::string_view& text, dom::object& object) {
    dom::element element;
    simdjson::error_code error = parse_json(parser_, text, element);
    // A program may print any byte. Its record is a good one all the same.
    if (error == simdjson::UTF8_ERROR) {
      mended_ = as_utf8(text);
      text = mended_;
      error = parse_json(parser_, text, element);
    }
    return error == simdjson::SUCCESS && !element.get_object().get(object);
  }

 private:
  dom::parser parser_;
  std::string mended_;
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string member(dom::element holder, std::string_view name) {
  std::string_view text;
  if (holder[name].get_string().get(text)) return {};
  return std::string(text);
}

constexpr std::size_t kLongestIdentifier = 255;  // Elasticsearch has the same
constexpr std::size_t kMostItems = 100'000;

// {"create":{"_index":"logs","_id":"7"}}
bool read_action(ObjectReader& reader, std::string_view line, BulkItem& item) {
  dom::object object;
  if (!reader.read(line, object) || object.size() != 1) return false;
  const auto [name, value] = *object.begin();
  constexpr std::string_view kActions[] = {"create", "index", "update", "delete"};
  if (std::ranges::find(kActions, name) == std::end(kActions) || !value.is_object()) return false;
  item.action = name;
  if (std::string index = member(value, "_index"); !index.empty()) item.index = std::move(index);
  item.id = member(value, "_id");
  return item.index.size() <= kLongestIdentifier && item.id.size() <= kLongestIdentifier;
}

}  // namespace

void read_objects(std::string_view body, RecordVisitor& visitor) {
  ObjectReader reader;
  JsonObjects objects(body);
  for (JsonPiece piece; objects.next(piece);) {
    dom::object object;
    if (piece.is_object && reader.read(piece.text, object))
      give_object(object, piece.text, visitor);
    else
      visitor.message(std::nullopt, piece.text);
  }
}

Result<std::vector<BulkItem>> read_bulk(std::string_view body, std::string_view index,
                                        RecordVisitor& visitor) {
  ObjectReader reader;
  std::vector<BulkItem> items;
  if (index.size() > kLongestIdentifier)
    return Error{Error::Kind::invalid_input, "the name of the index is too long"};
  while (!body.empty()) {
    const std::string_view line = take_line(body);
    if (line.empty()) continue;
    BulkItem item{.index = std::string(index)};
    if (!read_action(reader, line, item))
      return Error{Error::Kind::invalid_input,
                   "Malformed action/metadata line: expected create, index, update or delete"};
    if (item.action == "delete" || item.action == "update")
      item.refused = "logs are only added here; use create or index";
    if (item.action != "delete") {
      std::string_view document = take_line(body);
      dom::object object;
      if (!item.refused.empty()) {
      } else if (reader.read(document, object)) {
        give_object(object, document, visitor);
      } else {
        item.refused = "the document is no JSON object";
      }
    }
    if (items.size() == kMostItems)
      return Error{Error::Kind::too_large,
                   fmt::format("more than {} actions in one request", kMostItems)};
    items.push_back(std::move(item));
  }
  return items;
}

EventsRead read_events(std::string_view body, RecordVisitor& visitor) {
  ObjectReader reader;
  EventsRead read;
  std::size_t good = 0;
  const auto refuse = [&](int code, std::string_view text) {
    if (!read.error) read.error = {code, std::string(text), read.events};
    visitor.unreadable();
  };
  JsonObjects objects(body);
  for (JsonPiece piece; objects.next(piece); ++read.events) {
    dom::object object;
    dom::element event;
    std::string_view text;
    if (!piece.is_object || !reader.read(piece.text, object)) {
      refuse(6, "Invalid data format");
    } else if (object["event"].get(event) || event.is_null()) {
      refuse(12, "Event field is required");
    } else if (!event.get_string().get(text) && text.empty()) {
      refuse(13, "Event field cannot be blank");
    } else {
      give_object(object, piece.text, visitor);
      ++good;
    }
  }
  if (read.events == 0) read.error = {5, "No data", 0};
  // One event that is wrong must not take the others with it.
  if (good > 0) read.error.reset();
  return read;
}

}  // namespace faultline
