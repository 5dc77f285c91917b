// The witnesses that tell who has come to an operation, each with its adapter.
#pragma once

#include <vector>

#include "rules/picture/calls/told_progress.h"

namespace faultline {

using ToldRows = std::vector<ToldRow>;

ToldRows rows_of_barriers(const View& view, const TorchCrew& crew);  // monitored_barrier
ToldRows rows_of_desync(const View& view, const TorchCrew& crew);    // PyTorch's desync report
ToldRows rows_of_horovod(const View& view, const TorchCrew& crew);
ToldRows rows_of_jax(const View& view, const TorchCrew& crew);

}  // namespace faultline
