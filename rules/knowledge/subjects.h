// Joins the subjects of several findings.
#pragma once

#include "model/finding.h"

namespace faultline {

// Appends the names in `from` without sorting them, so that joining many subjects stays quick. Call
// tidy() in the end.
void append(Subject& to, const Subject& from);

// Sorts the names and removes repetitions.
void tidy(Subject& subject);

}  // namespace faultline
