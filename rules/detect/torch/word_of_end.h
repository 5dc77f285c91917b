// A program's own word that it did all it was to do.
#pragma once

#include "rules/picture/view.h"

namespace faultline {

// A step was made after this line: the job was started again into the same log.
bool went_on_after(const View& view, const LineRef& end);

// The line by which the job's program says that it did all it was to do. What any script may print
// counts where something tells that ranks worked. nullptr: none says so.
const LineRef* word_of_its_end(const View& view);

}  // namespace faultline
