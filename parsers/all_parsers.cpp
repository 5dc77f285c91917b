#include "parsers/kernel_host.h"
#include "parsers/kernel_sxid.h"
#include "parsers/kernel_xid.h"
#include "parsers/nccl.h"
#include "parsers/nccl_failure.h"
#include "parsers/nccl_inspector.h"
#include "parsers/ncclras_text.h"
#include "parsers/parser.h"
#include "parsers/proxy_dump.h"

namespace faultline {
namespace {

constexpr Parser kParsers[] = {
    {"nccl", "NCCL ", parse_nccl},
    {"nccl_tests", " NCCL ", parse_nccl_failure},
    {"kernel", "NVRM: ", parse_nvrm},
    {"kernel", "Linux ", parse_boot},
    {"kernel", "SXid (", parse_sxid},
    {"kernel", "nvidia-", parse_driver_unloading},
    {"kernel", "reboot: ", parse_host_stopping},
    {"kernel", "kvm: exiting", parse_host_stopping},
    {"kernel", "systemd-shutdown[", parse_host_stopping},
    {"kernel", "setting system clock to ", parse_clock},
    {"kernel", "audit: type=2000", parse_clock},
    {"kernel", " kernel messages", parse_lost_lines},
    {"kernel", "printk: ", parse_lost_lines},
    {"fabric_manager", "detected NVSwitch ", parse_fabric_manager},
    {"nccl_inspector", "\"coll_perf\"", parse_nccl_inspector},
    {"nccl_inspector", "\"p2p_perf\"", parse_nccl_inspector},
    {"ncclras", "PEER_", parse_ncclras_event},
    {"nccl_proxy", "ACTIVE OPS", parse_proxy_dump_head},
    {"nccl_proxy", "| ", parse_proxy_operation},
};

}  // namespace

std::span<const Parser> all_parsers() { return kParsers; }

}  // namespace faultline
