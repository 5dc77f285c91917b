// journalctl -o export: KEY=value lines, a blank line after each record. A value with line breaks
// or bytes that are no text stands behind its key's line as a 64-bit length, the bytes, a line
// break.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/unwrap/journal_record.h"
#include "ingest/unwrap/saved.h"
#include "ingest/unwrap/step.h"

namespace faultline {

class JournalExport {
 public:
  // The line as it is in the file: the bytes of a value are counted. Peeled: the record is
  // complete, take it. Not mine: the line does not begin a record, nor make sense as the next line
  // of one. If a record was begun, it can still be taken.
  Step feed(std::string_view line);

  bool in_record() const { return in_record_; }

  // Takes the record, complete or not. Afterwards no record is begun.
  JournalRecord take();

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  bool feed_binary(std::string_view line);

  JournalRecord record_;
  bool in_record_ = false;

  // A binary value that is being read.
  std::string key_;
  std::string length_bytes_;
  std::uint64_t missing_ = 0;
  bool keep_value_ = false;
  std::string value_;
};

}  // namespace faultline
