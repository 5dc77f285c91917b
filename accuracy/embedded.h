// Data of the scoreboard that travels inside it: the files of accuracy/data/.
#pragma once

#include <vector>

#include "rules/knowledge/embedded.h"

namespace faultline {

const std::vector<EmbeddedFile>& accuracy_files();

}  // namespace faultline
