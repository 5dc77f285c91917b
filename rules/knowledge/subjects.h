// What several findings name, as one.
#pragma once

#include "model/finding.h"

namespace faultline {

// Appends what `from` names, in the time that takes: many can be put together. tidy() is due then.
void append(Subject& to, const Subject& from);

// Each part once, in order.
void tidy(Subject& subject);

}  // namespace faultline
