// The addresses at which log shippers send, each in the protocol of the server that it takes us
// for. Rows of the table in router.cpp.
#pragma once

#include <vector>

#include "http/router.h"

namespace faultline {

std::vector<Route> door_routes();

}  // namespace faultline
