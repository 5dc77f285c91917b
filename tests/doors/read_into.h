// What a body gives, for the tests of doors.
#pragma once

#include <string>
#include <vector>

#include "doors/source_lines.h"

namespace faultline {

inline DestinationDefaults usual_defaults() {
  return {.job = "unlabelled", .sender = "10.0.0.9", .source = "peer"};
}

struct Given {
  LabelNames names;
  DestinationDefaults defaults = usual_defaults();
  SourceLines lines{names, defaults};

  // job|host|rank|source, then the lines.
  std::vector<std::string> all() const {
    std::vector<std::string> all;
    for (const auto& [destination, lines_of_it] : lines.sources())
      all.push_back(destination.job + "|" + destination.host + "|" +
                    std::to_string(destination.rank) + "|" + destination.source + "\n" +
                    lines_of_it.text);
    return all;
  }
};

}  // namespace faultline
