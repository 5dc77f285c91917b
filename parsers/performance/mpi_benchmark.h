// Tables of MPI benchmarks, with the time or bandwidth of each message size: the OSU
// micro-benchmarks and Intel's (IMB).
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_mpi_benchmark(std::string_view text);
std::unique_ptr<Document> make_mpi_benchmark();

}  // namespace faultline
