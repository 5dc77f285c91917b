// Finds processes that did not answer ncclras, that it calls dead, or that report an error.
#pragma once

#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

std::vector<Suspicion> find_reported_absent(const View& view);
std::vector<Suspicion> find_reported_errors(const View& view);

}  // namespace faultline
