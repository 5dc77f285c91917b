// Whether a log ends before a late rank's next line would have been due.
#pragma once

#include <cstddef>
#include <set>

#include "rules/picture/view.h"

namespace faultline {

// Ranks that write into one log write their lines of a call one after the other. If the log ends
// (or was cut) in between, the ranks that come later only seem to have missed the call. True if all
// members write into one log, and no more lines follow on the call that some of them miss than
// earlier calls took until the last rank's line came. `late`: the workers that the others wait for;
// if they are far behind, it does not matter where the log ends.
bool ends_too_soon(const View& view, const Alignment& alignment, const std::set<std::size_t>& late);

}  // namespace faultline
