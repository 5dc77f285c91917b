// The diagnosis as people read it. The same diagnosis gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"
#include "model/views.h"
#include "rules/answer/heard.h"

namespace faultline {

// For a terminal or curl, in the order of need: verdict and since when, culprit, next step, how to
// acknowledge; then why. At most 25 lines; verbose: everything.
std::string to_text(const Diagnosis& diagnosis, bool verbose = false);

// How the answer came about, to stand below the text.
std::string to_text(const Explanation& explanation);

// For a ticket.
std::string to_markdown(const Diagnosis& diagnosis);

// A file that needs no other, with the picture of where the ranks stand and when each was heard.
std::string to_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                    const Heard& heard = {});

}  // namespace faultline
