#include "ingest/unwrap/journal_json.h"

#include <string>

#include "ingest/unwrap/journal_record.h"
#include "ingest/unwrap/scan.h"

namespace faultline {

namespace {

using simdjson::ondemand::json_type;

// Text that is not UTF-8 comes as an array of byte values, a field that occurs several times as an
// array of texts.
bool read_array(simdjson::ondemand::array array, std::string& text) {
  for (auto element : array) {
    std::uint64_t byte = 0;
    std::string_view part;
    simdjson::ondemand::value value;
    if (element.get(value)) return false;
    if (!value.get_uint64().get(byte)) {
      if (byte > 255) return false;
      text += static_cast<char>(byte);
    } else if (!value.get_string().get(part)) {
      if (!text.empty()) text += '\n';
      text += part;
    } else {
      return false;
    }
  }
  return true;
}

bool read_record(JsonText& json, std::string_view text, JournalRecord& record) {
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (!json.open(text, document) || document.get_object().get(object)) return false;
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    json_type type{};
    if (field.unescaped_key().get(key)) return false;
    if (!JournalRecord::wants(key)) continue;
    if (field.value().get(value) || value.type().get(type)) return false;
    if (type == json_type::string) {
      std::string_view string;
      if (value.get_string().get(string)) return false;
      record.set(key, string);
    } else if (type == json_type::array) {
      simdjson::ondemand::array array;
      std::string joined;
      if (value.get_array().get(array) || !read_array(array, joined)) return false;
      record.set(key, joined);
    }
  }
  return at_end(document);
}

bool looks_like_a_record(std::string_view text) {
  return text.starts_with('{') && text.find("\"MESSAGE\"") != std::string_view::npos &&
         (text.find("\"__REALTIME_TIMESTAMP\"") != std::string_view::npos ||
          text.find("\"_HOSTNAME\"") != std::string_view::npos);
}

}  // namespace

Step peel_journal_json(Peeled& line, JsonText& json, TextPool& pool) {
  JournalRecord record;
  if (!looks_like_a_record(line.text) || !read_record(json, line.text, record))
    return Step::not_mine;
  return record.give(line, pool) ? Step::peeled : Step::held;
}

}  // namespace faultline
