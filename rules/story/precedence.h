// Which of several findings comes first, where their classes leave it open. How sure they are,
// their ids and the name of the job never decide that.
#pragma once

#include <cstddef>
#include <tuple>

#include "model/finding.h"
#include "rules/story/candidate.h"

namespace faultline {

// A rank that did not come did so at no moment: what is known is its last line before, and the
// cause may lie on either side of it.

// The smaller, the more closely a part is named: a GPU or a port before a rank, a rank before a
// host, one before several.
std::tuple<int, std::size_t, std::size_t> closeness(const Subject& subject);

// By the order of the classes in the documentation, then by what they name.
bool named_before(const Finding& a, const Finding& b);

// Of two moments at which something happened: by their clocks, else by their places in one source.
Order told_order(const Candidate& a, const Candidate& b);

// Of two that could each have led to the other: whether `a` began. What tells its reason beside it
// did not; else by time, then a cause before a symptom, then what is named more closely, then the
// named order. A strict order of any two.
bool begins_before(const Candidate& a, const Candidate& b);

}  // namespace faultline
