// dmesg -J: one document for the whole log, which dmesg prints over many lines and others squeeze
// into one: {"dmesg":[{"pri":4,"time":    12.345678,"msg":"..."},...]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"
#include "ingest/unwrap/step.h"
#include "ingest/unwrap/text_pool.h"
#include "parsers/json/json_text.h"

namespace faultline {

struct DmesgRecord {
  std::int64_t priority = 0;  // facility * 8 + level; only the level if the facility has a name
  std::string facility;
  std::optional<std::int64_t> uptime_us;
  std::optional<std::string> message;

  // False: the record has no message.
  bool give(Peeled& line, TextPool& pool) const;
};

// The records of a document on one line; empty if it is none.
std::vector<DmesgRecord> read_dmesg_document(std::string_view text, JsonText& json);

// The document over many lines.
class DmesgJson {
 public:
  // Peeled: a record is complete. Not mine: neither the document's beginning nor a line in it.
  Step feed(Peeled& line, JsonText& json, TextPool& pool);

  bool in_document() const { return place_ != Place::outside; }
  void leave() { *this = {}; }

  // Takes a record that still lacks its last line, and leaves the document.
  DmesgRecord take();

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  enum class Place { outside, in_list, in_record, after_list };

  Step end_record(Peeled& line, TextPool& pool, Place next);
  Step read_field(std::string_view text, JsonText& json);

  Place place_ = Place::outside;
  DmesgRecord record_;
};

}  // namespace faultline
