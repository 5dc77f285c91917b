// The diagnosis as people read it. The same diagnosis gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"
#include "model/views.h"

namespace faultline {

// For a terminal or curl: verdict, cause, how sure, the lines, what to do; at most 2 KB.
std::string to_text(const Diagnosis& diagnosis);

// How the answer came about, to stand below the text.
std::string to_text(const Explanation& explanation);

// For a ticket.
std::string to_markdown(const Diagnosis& diagnosis);

// A file that needs nothing else, with the picture of where the ranks stand.
std::string to_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks);

}  // namespace faultline
