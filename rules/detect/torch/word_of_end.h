// A program's own word that it did all it was to do.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// The last step that a line tells of. What was said before it is no end: the job went on, or was
// started again into the same log. nullptr: no line tells of a step.
const LineRef* last_step(const View& view);

// Whether a step of the training follows the line, which then is no last word. `step`: the last
// one, if there is one.
bool trained_on(const LineRef* step, const LineRef& line);

// The lines by which the job's program says that it did all it was to do: the last word of each
// rank. What any script may print counts where something tells that ranks worked. A signature that
// is less sure than `least_sure` does not count.
std::vector<const LineRef*> words_of_its_end(const View& view, double least_sure = 0);

// The first of them. nullptr: none says so.
const LineRef* word_of_its_end(const View& view);

}  // namespace faultline
