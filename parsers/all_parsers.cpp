#include "parsers/kernel_xid.h"
#include "parsers/nccl.h"
#include "parsers/nccl_failure.h"
#include "parsers/parser.h"

namespace faultline {
namespace {

constexpr Parser kParsers[] = {
    {"nccl", "NCCL ", parse_nccl},
    {"nccl_tests", " NCCL ", parse_nccl_failure},
    {"kernel", "NVRM: ", parse_nvrm},
    {"kernel", "Linux ", parse_boot},
};

}  // namespace

std::span<const Parser> all_parsers() { return kParsers; }

}  // namespace faultline
