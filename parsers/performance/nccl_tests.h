// The output of nccl-tests (all_reduce_perf and others): a header that names ranks, hosts and GPUs,
// a table, and two lines of summary. All versions; docs/performance-evidence.md has the forms.
//
// A table becomes one fact about its bandwidth, and another one if its results are wrong. They are
// given at the end of the table, because the sizes that matter come last.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nccl_tests(std::string_view text);
std::unique_ptr<Document> make_nccl_tests();

}  // namespace faultline
