// When the job ran: what a tool saw before belongs to the past.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

class JobSpan {
 public:
  explicit JobSpan(const View& view);

  // Whether that was surely before the job's first line.
  bool is_before(const EventTime& time) const;

 private:
  std::vector<EventTime> first_;  // the earliest with a zone, and the earliest without
};

}  // namespace faultline
