// The files of accuracy/data/, embedded in the scoreboard.
#pragma once

#include <vector>

#include "rules/knowledge/embedded.h"

namespace faultline {

const std::vector<EmbeddedFile>& accuracy_files();

}  // namespace faultline
