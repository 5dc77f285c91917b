// What a part of a machine did to other jobs before this one.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

// Earlier faults of the same class on the parts that the suspicion is about.
std::vector<const PastOffence*> offences_before(const View& view, Cause cause,
                                                const Suspicion& suspicion);

// Adds their lines as evidence that names their jobs, the latest first.
void add_past_lines(const std::vector<const PastOffence*>& before, Finding& finding);

std::set<std::string> jobs_of(const std::vector<const PastOffence*>& offences);

// The program that a kernel's line names: name=python3. Empty: the line names none.
std::string program_in(std::string_view line);

// Marks each fault of a machine whose part failed other jobs in the same way: in its title, with a
// line of each job, and with a first action.
void tell_past_offences(const View& view, std::vector<Suspicion>& found);

}  // namespace faultline
