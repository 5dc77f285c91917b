// Which rank wrote a line that names no rank: one of those with calls in the same source, by which
// of them went on after it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

class SourceSpeakers {
 public:
  explicit SourceSpeakers(const View& view);

  // Whether the rank that wrote this line called collectives after it; then it caught the
  // exception. `rank`: by the line's label; -1: it has none.
  bool went_on(int rank, const LineRef& line) const;

  // The rank that wrote a line without a label; if its source has no calls with a rank, by the name
  // of the file. -1: not known.
  int rank_of(const LineRef& line) const;

 private:
  struct Speaker {
    int rank = -1;
    std::uint64_t last_call = 0;  // its line
    bool is_waited_for = false;
  };
  // Ranks that are waited for and made no call after the line.
  std::vector<const Speaker*> stopped_before(const LineRef& line) const;

  std::map<std::uint32_t, std::vector<Speaker>> by_source_;
  std::map<std::uint32_t, int> by_file_name_;
};

}  // namespace faultline
