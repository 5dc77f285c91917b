// What the store throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace faultline {

// The database cannot be reached, refuses, or holds unreadable data. The message names the file.
struct StoreError : std::runtime_error {
  using runtime_error::runtime_error;
};

// There is no room on the disk; there may be some later.
struct StoreFull : StoreError {
  using StoreError::StoreError;
};

// A commit does not begin where its source stands: another request stored these bytes, or a commit
// before it failed. Nothing of it was stored. The sender gets the stored offset (409) and goes on
// from there; a Reader that has read further must be dropped.
struct SourceMovedOn : StoreError {
  SourceMovedOn(const std::string& message, std::uint64_t offset)
      : StoreError(message), stored_offset(offset) {}
  std::uint64_t stored_offset;
};

}  // namespace faultline
