// A program's own word that its work is done.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// The line of the last training step; nullptr: there is none. A line before it is no end: the job
// went on, or was started again into the same log.
const LineRef* last_step(const View& view);

// Whether a training step follows the line, which then is no last word. `step`: the last one, if
// there is one.
bool trained_on(const LineRef* step, const LineRef& line);

// The lines in which the job's program says that its work is done: the last word of each rank.
// Words that any script may print count only if something shows that ranks worked. A signature that
// is less sure than `least_sure` does not count.
std::vector<const LineRef*> words_of_its_end(const View& view, double least_sure = 0);

// The first of them; nullptr: there is none.
const LineRef* word_of_its_end(const View& view);

}  // namespace faultline
