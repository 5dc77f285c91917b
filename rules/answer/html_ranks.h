// The picture of where the ranks stand, as the page draws it. Hosts with a rank that differs from
// its peers come first. If there are many hosts, each of the others is only a square.
#pragma once

#include <string>
#include <vector>

#include "model/views.h"

namespace faultline {

// first: the cause that is shown first; nullptr: there is none.
std::string ranks_in_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                          const Finding* first);

}  // namespace faultline
