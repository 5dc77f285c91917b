// Processes that ended, as launchers report them: with which code, or by which signal.
#pragma once

#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

// What exceptions say about the job's end: nothing, that they follow from it, or why it ended.
enum class Exceptions { none, follow, tell_why };

// Adds what launchers say, if no exception says more.
void add_ends(const View& view, const TorchCrew& crew, Exceptions exceptions,
              std::vector<Suspicion>& found);

}  // namespace faultline
