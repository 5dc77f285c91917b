// Adds one batch to another, when batches are joined or read again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "model/batch.h"

namespace faultline {

// Adds the counts by kind of line, but not the number of lines itself.
void add_counts(Batch& to, const Batch& more);

// The speakers of a batch. index_of() adds a speaker that is new; the others keep their indices.
class SpeakersOf {
 public:
  explicit SpeakersOf(Batch& batch);

  std::uint32_t index_of(const Speaker& speaker);

 private:
  using Key = std::tuple<std::string, std::int64_t, int, int>;
  static Key key(const Speaker& speaker);

  Batch& batch_;
  std::map<Key, std::uint32_t> known_;
};

}  // namespace faultline
