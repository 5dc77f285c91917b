#include "ship/collect/kinds.h"

#include <algorithm>

namespace faultline {

const std::vector<CollectKind>& evidence_kinds() {
  using How = CollectKind::How;
  static const std::vector<CollectKind> kKinds{
      {.name = "kernel_log",
       .runs = "dmesg -T; without it journalctl -k -b --no-pager; without both it asks the kernel",
       .how = How::first_command,
       .commands = {{"dmesg", "-T"}, {"journalctl", "-k", "-b", "--no-pager"}},
       .keeps_end = true,
       .asks_kernel = true},
      {.name = "port_counters",
       .runs = "reads the counters of /sys/class/infiniband, ethtool -S of each interface; twice, "
               "10 s apart",
       .how = How::port_counters},
      {.name = "port_states",
       .runs = "ibstat; rdma link",
       .commands = {{"ibstat"}, {"rdma", "link"}}},
      {.name = "interfaces", .runs = "ip link", .commands = {{"ip", "link"}}},
      {.name = "shm", .runs = "df -h /dev/shm", .commands = {{"df", "-h", "/dev/shm"}}},
      {.name = "gpu_report", .runs = "nvidia-smi -q", .commands = {{"nvidia-smi", "-q"}}},
      {.name = "stacks",
       .runs = "py-spy dump of each process of the job; without it gdb's thread apply all bt, or "
               "what /proc says",
       .how = How::stacks},
      {.name = "ras",
       .runs = "asks NCCL's RAS service at 127.0.0.1:28028 for its verbose status",
       .how = How::ras},
      {.name = "flight_recorder",
       .runs = "writes into the pipe of TORCH_NCCL_DEBUG_INFO_PIPE_FILE, so that PyTorch writes "
               "its dump",
       .how = How::flight_recorder},
  };
  return kKinds;
}

const CollectKind* find_kind(std::string_view name) {
  const std::vector<CollectKind>& kinds = evidence_kinds();
  const auto found = std::ranges::find(kinds, name, &CollectKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

ChosenKinds choose_kinds(std::string_view text) {
  ChosenKinds chosen;
  while (!text.empty()) {
    const std::string word(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word == "all")
      for (const CollectKind& kind : evidence_kinds()) chosen.names.emplace(kind.name);
    else if (find_kind(word) != nullptr)
      chosen.names.insert(word);
    else if (chosen.unknown.empty())
      chosen.unknown = word.empty() ? "," : word;
  }
  return chosen;
}

}  // namespace faultline
