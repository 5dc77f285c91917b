// What torchrun says on a host when its workers end before their time.
#pragma once

#include <string>

#include "simulate/torch_hang.h"

namespace faultline::simulation {

// Empty: they all came to their end.
std::string torchrun_log(const Attempt& attempt, const TorchHang& hang, int host);

}  // namespace faultline::simulation
