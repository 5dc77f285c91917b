// The picture of where the ranks stand, as the page draws it: hosts with a rank that is not as its
// peers come first; where there are many, the others are folded into a square each.
#pragma once

#include <string>
#include <vector>

#include "model/views.h"

namespace faultline {

// first: the cause that is shown first; nullptr: there is none.
std::string ranks_in_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                          const Finding* first);

}  // namespace faultline
