// What one batch tells, told by another as well: batches that become one, or are read again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "model/batch.h"

namespace faultline {

// What is counted of lines, and not the lines themselves.
void add_counts(Batch& to, const Batch& more);

// The speakers of a batch, to which others are added as they are asked for. Those that are there
// keep their indices.
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
