#include "ingest/unwrap/dmesg_json.h"

#include <utility>

#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

constexpr std::int64_t kLastKernelPriority = 7;

std::string_view trimmed(std::string_view text) {
  take_blanks(text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// "pri" is a number, or with -x the level's name; "caller" and what newer versions add is ignored.
bool set_field(DmesgRecord& record, std::string_view key, simdjson::ondemand::value value) {
  if (key == "time") {
    std::string_view number = trimmed(value.raw_json_token());
    record.uptime_us = take_seconds(number);
  } else if (key == "msg" || key == "fac") {
    std::string_view text;
    if (value.get_string().get(text)) return false;
    if (key == "msg")
      record.message = text;
    else
      record.facility = text;
  } else if (key == "pri") {
    if (value.get_int64().get(record.priority)) record.priority = 0;
  }
  return true;
}

// {"dmesg": [
bool begins_a_document(std::string_view text) {
  text = trimmed(text);
  if (take(text, '{')) take_blanks(text);
  if (!take(text, "\"dmesg\"")) return false;
  take_blanks(text);
  if (!take(text, ':')) return false;
  take_blanks(text);
  return text == "[";
}

}  // namespace

bool DmesgRecord::give(Peeled& line, TextPool& pool) const {
  if (!message) return false;
  if (uptime_us) line.stamped(EventTime::since_boot(*uptime_us));
  line.in_kernel = true;
  if (priority > kLastKernelPriority || (!facility.empty() && facility != "kern"))
    line.from_user_space = true;
  line.text = without_control_bytes(pool.copy(*message), pool);
  return true;
}

std::vector<DmesgRecord> read_dmesg_document(std::string_view text, JsonText& json) {
  std::vector<DmesgRecord> records;
  std::string_view rest = text;
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (!take(rest, '{') || !(take_blanks(rest), take(rest, "\"dmesg\"")) ||
      !json.open(text, document) || document["dmesg"].get_array().get(array))
    return records;
  for (auto element : array) {
    simdjson::ondemand::object object;
    if (element.get_object().get(object)) return records;
    DmesgRecord& record = records.emplace_back();
    for (auto field : object) {
      std::string_view key;
      simdjson::ondemand::value value;
      if (field.unescaped_key().get(key) || field.value().get(value) ||
          !set_field(record, key, value))
        return records;
    }
  }
  return records;
}

Step DmesgJson::feed(Peeled& line, JsonText& json, TextPool& pool) {
  if (begins_a_document(line.text)) {
    *this = {};
    place_ = Place::in_list;
    return Step::held;
  }
  const std::string_view text = trimmed(line.text);
  switch (place_) {
    case Place::outside:
      return Step::not_mine;
    case Place::in_list:
      if (text == "]") {
        place_ = Place::after_list;
        return Step::held;
      }
      if (text != "{") return Step::not_mine;
      place_ = Place::in_record;
      return Step::held;
    case Place::in_record:
      if (text == "}" || text == "},") return end_record(line, pool, Place::in_list);
      if (text == "},{") return end_record(line, pool, Place::in_record);
      return read_field(text, json);
    case Place::after_list:
      if (text != "}") return Step::not_mine;
      leave();
      return Step::held;
  }
  return Step::not_mine;
}

Step DmesgJson::end_record(Peeled& line, TextPool& pool, Place next) {
  const DmesgRecord record = std::exchange(record_, {});
  place_ = next;
  return record.give(line, pool) ? Step::peeled : Step::held;
}

// "time":     0.000000,
Step DmesgJson::read_field(std::string_view text, JsonText& json) {
  if (!text.starts_with('"')) return Step::not_mine;
  if (text.ends_with(',')) text.remove_suffix(1);
  std::string object_text;
  object_text.reserve(text.size() + 2);
  object_text.append("{").append(text).append("}");
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (!json.open(object_text, document) || document.get_object().get(object)) return Step::not_mine;
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    if (field.unescaped_key().get(key) || field.value().get(value) ||
        !set_field(record_, key, value))
      return Step::not_mine;
  }
  return Step::held;
}

DmesgRecord DmesgJson::take() { return std::exchange(*this, {}).record_; }

void DmesgJson::save(SavedWriter& saved) const {
  saved.number(static_cast<std::int64_t>(place_));
  if (place_ == Place::outside) return;
  saved.number(record_.priority);
  saved.text(record_.facility);
  saved.number(record_.uptime_us.value_or(-1));
  saved.number(record_.message ? 1 : 0);
  if (record_.message) saved.text(*record_.message);
}

void DmesgJson::restore(SavedReader& saved) {
  leave();
  const std::int64_t place = saved.number();
  if (place <= 0 || place > static_cast<std::int64_t>(Place::after_list)) return;
  place_ = static_cast<Place>(place);
  record_.priority = saved.number();
  record_.facility = saved.text();
  if (const std::int64_t uptime_us = saved.number(); uptime_us >= 0) record_.uptime_us = uptime_us;
  if (saved.number() != 0) record_.message = saved.text();
}

}  // namespace faultline
