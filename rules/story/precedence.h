// Which of several findings comes first, if their classes leave it open. Confidence, ids and the
// name of the job never decide that.
#pragma once

#include <cstddef>
#include <tuple>

#include "model/finding.h"
#include "rules/story/candidate.h"

namespace faultline {

// The smaller, the more closely a part is named: a GPU or a port before a rank, a rank before a
// host, one before several.
std::tuple<int, std::size_t, std::size_t> closeness(const Subject& subject);

// By the order of the classes in the documentation, then by what they name.
bool named_before(const Finding& a, const Finding& b);

// The order in which two findings happened: by their clocks, else by their places in one source. A
// rank that did not come has no moment: its last line may lie before the cause or after it.
Order told_order(const Candidate& a, const Candidate& b);

// Whether `a` began, if each could have led to the other. A finding whose reason is printed beside
// it did not begin. Otherwise by time, then a cause before a symptom, then the one that is named
// more closely, then named_before(). A strict order of any two.
bool begins_before(const Candidate& a, const Candidate& b);

}  // namespace faultline
