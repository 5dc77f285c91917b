// The witnesses that say how far ranks came, each with its adapter.
#pragma once

#include <string_view>

#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/progress_table.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

ProgressTable table_of_barriers(const View& view, const TorchCrew& crew);  // monitored_barrier
ProgressTable table_of_desync(const View& view, const TorchCrew& crew);  // PyTorch's desync report
ProgressTable table_of_fr_report(const View& view, const TorchCrew& crew);  // torchfrtrace
ProgressTable table_of_gloo(const View& view, const TorchCrew& crew);
ProgressTable table_of_horovod(const View& view, const TorchCrew& crew);
ProgressTable table_of_jax_barriers(const View& view, const TorchCrew& crew);
ProgressTable table_of_jax_heartbeats(const View& view, const TorchCrew& crew);
ProgressTable table_of_lost_peers(const View& view, const TorchCrew& crew);
ProgressTable table_of_ras(const View& view, const TorchCrew& crew);  // NCCL's reports
ProgressTable table_of_store_barriers(const View& view, const TorchCrew& crew);
ProgressTable table_of_store_waits(const View& view, const TorchCrew& crew);

// An empty table, whose members are ranks of the job.
ProgressTable table_of_ranks(const TorchCrew& crew);

// Adds ranks that did not come, by this line.
void add_absent(ProgressRow& row, const std::vector<int>& ranks, const LineRef& line);

// The number that a line gives in this field of its signature; -1: none.
int number_of(const SignatureMatch& match, std::string_view field);

}  // namespace faultline
