// What torchrun prints on a host when its workers end too early.
#pragma once

#include <string>

#include "simulate/torch_hang.h"

namespace faultline::simulation {

// Empty: no worker failed.
std::string torchrun_log(const Attempt& attempt, const TorchHang& hang, int host);

}  // namespace faultline::simulation
