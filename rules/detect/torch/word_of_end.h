// A program's own word that it did all it was to do.
#pragma once

#include "rules/picture/view.h"

namespace faultline {

// A step of the training after which nothing counts as an end: the job was started again into the
// same log. nullptr: no line tells of a step.
const LineRef* last_step(const View& view);

// The line by which the job's program says that it did all it was to do. What any script may print
// counts where something tells that ranks worked, and never where it has to be so sure. nullptr:
// none says so.
const LineRef* word_of_its_end(const View& view, double least_sure = 0);

}  // namespace faultline
