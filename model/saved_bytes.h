// A compact form for what a reader remembers between lines, so that it survives a restart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace faultline {

class SavedBytesWriter {
 public:
  void number(std::int64_t value);
  void text(std::string_view value);

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what SavedBytesWriter wrote, in the same order. Bytes that it did not write make ok()
// false, and everything read from then on empty.
class SavedBytesReader {
 public:
  explicit SavedBytesReader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number();
  int small_number();       // clamped to an int
  std::string_view text();  // a view into the bytes

  bool at_end() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  void fail();

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace faultline
