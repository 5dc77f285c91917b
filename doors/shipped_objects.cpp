#include "doors/shipped_objects.h"

#include <simdjson.h>

#include <algorithm>

#include "doors/json_labels.h"
#include "doors/json_objects.h"

namespace faultline {
namespace {

namespace dom = simdjson::dom;

void give_object(dom::object object, std::string_view text, RecordVisitor& visitor) {
  std::string path;
  give_labels(object, path,
              [&](std::string_view name, std::string_view value) { visitor.label(name, value); });
  visitor.object(text);
}

bool read_object(dom::parser& parser, std::string_view text, dom::object& object) {
  return !parser.parse(text.data(), text.size()).get_object().get(object);
}

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

// {"create":{"_index":"logs","_id":"7"}}
bool read_action(dom::parser& parser, std::string_view line, BulkItem& item) {
  dom::object object;
  if (!read_object(parser, line, object) || object.size() != 1) return false;
  const auto [name, value] = *object.begin();
  constexpr std::string_view kActions[] = {"create", "index", "update", "delete"};
  if (std::ranges::find(kActions, name) == std::end(kActions) || !value.is_object()) return false;
  item.action = name;
  if (std::string index = member(value, "_index"); !index.empty()) item.index = std::move(index);
  item.id = member(value, "_id");
  return true;
}

}  // namespace

void read_objects(std::string_view body, RecordVisitor& visitor) {
  dom::parser parser;
  JsonObjects objects(body);
  for (JsonPiece piece; objects.next(piece);) {
    dom::object object;
    if (piece.is_object && read_object(parser, piece.text, object))
      give_object(object, piece.text, visitor);
    else
      visitor.message(std::nullopt, piece.text);
  }
}

Result<std::vector<BulkItem>> read_bulk(std::string_view body, std::string_view index,
                                        RecordVisitor& visitor) {
  dom::parser parser;
  std::vector<BulkItem> items;
  while (!body.empty()) {
    const std::string_view line = take_line(body);
    if (line.empty()) continue;
    BulkItem item{.index = std::string(index)};
    if (!read_action(parser, line, item))
      return Error{Error::Kind::invalid_input,
                   "Malformed action/metadata line: expected create, index, update or delete"};
    if (item.action == "delete" || item.action == "update")
      item.refused = "logs are only added here; use create or index";
    if (item.action != "delete") {
      const std::string_view document = take_line(body);
      dom::object object;
      if (!item.refused.empty()) {
      } else if (read_object(parser, document, object)) {
        give_object(object, document, visitor);
      } else {
        item.refused = "the document is no JSON object";
      }
    }
    items.push_back(std::move(item));
  }
  return items;
}

EventsRead read_events(std::string_view body, RecordVisitor& visitor) {
  dom::parser parser;
  EventsRead read;
  JsonObjects objects(body);
  for (JsonPiece piece; objects.next(piece); ++read.events) {
    dom::object object;
    if (!piece.is_object || !read_object(parser, piece.text, object)) {
      read.error = {6, "Invalid data format", read.events};
      return read;
    }
    dom::element event;
    if (object["event"].get(event) || event.is_null()) {
      read.error = {12, "Event field is required", read.events};
      return read;
    }
    std::string_view text;
    if (!event.get_string().get(text) && text.empty()) {
      read.error = {13, "Event field cannot be blank", read.events};
      return read;
    }
    give_object(object, piece.text, visitor);
  }
  if (read.events == 0) read.error = {5, "No data", 0};
  return read;
}

}  // namespace faultline
