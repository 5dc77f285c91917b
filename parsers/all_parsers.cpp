#include "parsers/kernel_xid.h"
#include "parsers/parser.h"

namespace faultline {
namespace {

constexpr Parser kParsers[] = {
    {"kernel", "NVRM: ", parse_nvrm},
    {"kernel", "Linux ", parse_boot},
};

}  // namespace

std::span<const Parser> all_parsers() { return kParsers; }

}  // namespace faultline
