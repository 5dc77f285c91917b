// A watchdog's line that lacks its end, with the rows behind it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/fact.h"

namespace faultline {

struct WholeLine {
  Fact fact;
  std::string text;
};

// Whether a row may go on with a line: it has nothing that only the beginning of one has.
bool may_go_on_with_line(std::string_view row);

// begun: what was kept of its first row; more: rows after it; last: the row that may end it.
// nullopt: together they are no whole line.
std::optional<WholeLine> whole_line(const Remark& begun, std::span<const std::string> more,
                                    std::string_view last);

}  // namespace faultline
