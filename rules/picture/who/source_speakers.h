// Whose a line is that names nobody: of those whose calls stand in the same source, by who went on
// after it and who did not.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

class SourceSpeakers {
 public:
  explicit SourceSpeakers(const View& view);

  // Whether whoever wrote this line called collectives after it: then it has caught what it raised.
  // `rank`: by the line's label; -1: it has none.
  bool went_on(int rank, const LineRef& line) const;

  // The rank that wrote a line without a label, where nothing better tells by the name of its file;
  // -1: nothing does.
  int rank_of(const LineRef& line) const;

 private:
  struct Speaker {
    int rank = -1;
    std::uint64_t last_call = 0;  // its line
    bool is_waited_for = false;
  };
  // Who is waited for and made no call after the line.
  std::vector<const Speaker*> stopped_before(const LineRef& line) const;

  std::map<std::uint32_t, std::vector<Speaker>> by_source_;
  std::map<std::uint32_t, int> by_file_name_;
};

}  // namespace faultline
