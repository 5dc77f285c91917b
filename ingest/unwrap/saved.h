// The compact form in which an Unwrapper's memory survives a restart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/unwrap/peeled.h"

namespace faultline {

class SavedWriter {
 public:
  void number(std::int64_t value);
  void text(std::string_view value);
  void peeled(const Peeled& value);  // all but its text

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what SavedWriter wrote, in the same order. Bytes that it did not write make ok() false, and
// everything read from then on empty.
class SavedReader {
 public:
  explicit SavedReader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number();
  std::string_view text();
  Peeled peeled();  // its host is a view into the bytes

  bool at_end() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  void fail();

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace faultline
