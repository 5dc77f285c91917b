#include "parsers/nccl/nccl_lifetime.h"

#include <optional>

#include "model/pci_address.h"
#include "parsers/scan.h"

namespace faultline {
namespace {

// The fields of a line about one rank of one communicator.
struct Named {
  CommunicatorInit init;
  std::optional<int> nodes;
  std::optional<int> local_ranks;
  std::optional<int> local_rank;
  bool mnnvl = false;
};

// The words between "comm" and the dash. Versions print different words in different order.
bool read_fields(Scan& scan, Named& named) {
  CommunicatorInit& init = named.init;
  bool ranked = false;
  while (true) {
    scan.skip_blanks();
    if (scan.done() || scan.peek() == '-') return ranked;
    std::string_view key = scan.word();
    scan.skip_blanks();
    std::uint64_t number = 0;
    int value = 0;
    if (key == "rank") {
      if (!scan.integer(init.rank)) return false;
    } else if (key == "nranks" || key == "nRanks") {
      if (!scan.integer(init.nranks)) return false;
      ranked = true;
    } else if (key == "cudaDev") {
      if (!scan.integer(init.cuda_device)) return false;
    } else if (key == "nvmlDev") {
      if (!scan.integer(init.nvml_device)) return false;
    } else if (key == "busId") {
      auto gpu = pci_from_nccl_bus_id(scan.word());
      if (!gpu) return false;
      init.gpu = *gpu;
    } else if (key == "commId") {
      std::string_view id = scan.word();
      Scan digits(id);
      if (!digits.skip("0x") || !digits.hex(number) || !digits.done()) return false;
      init.communicator_id = id;
    } else if (key == "parent") {
      if (!scan.pointer(number)) return false;
      init.parent = number;
    } else if (key == "splitCount" || key == "childCount") {
      if (!scan.integer(value)) return false;
      init.child = value;
    } else if (key == "color") {
      if (!scan.integer(value)) return false;
      init.color = value;
    } else if (key == "key") {
      if (!scan.integer(value)) return false;  // "key 3- Init START" in 2.23 and later
      init.key = value;
    } else if (key == "nNodes") {
      if (!scan.integer(value)) return false;
      named.nodes = value;
    } else if (key == "localRanks") {
      if (!scan.integer(value)) return false;
      named.local_ranks = value;
    } else if (key == "localRank") {
      if (!scan.integer(value)) return false;
      named.local_rank = value;
    } else if (key == "MNNVL") {
      if (!scan.integer(value)) return false;
      named.mnnvl = true;
    } else {
      return false;
    }
  }
}

std::optional<CommunicatorEnding> ending(std::string_view text) {
  if (text == "Destroy COMPLETE") return CommunicatorEnding::destroyed;
  if (text == "Abort START") return CommunicatorEnding::abort_started;
  if (text == "Abort COMPLETE") return CommunicatorEnding::aborted;
  if (text == "Revoke START") return CommunicatorEnding::revoke_started;
  if (text.starts_with("Revoke COMPLETE")) return CommunicatorEnding::revoked;
  return std::nullopt;
}

// Reads up to the dash, which is not consumed, or to the end.
bool read_communicator(Scan& scan, const NcclMessage& message, Named& named) {
  int ignored = 0;
  if (scan.skip("[Rank ")) {  // 2.29 and later, in START only
    if (!scan.integer(ignored) || !scan.skip("] ")) return false;
  }
  if (scan.peek() == 'n') named.init.function = scan.word(), scan.skip_blanks();
  if (!named.init.function.empty() && !named.init.function.starts_with("ncclComm")) return false;
  if (!scan.skip("comm ") || !scan.pointer(named.init.communicator)) return false;
  named.init.thread = message.thread;
  return read_fields(scan, named);
}

}  // namespace

bool read_communicator_init(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  Named named;
  if (!read_communicator(scan, message, named)) return false;
  CommunicatorInit& init = named.init;
  if (scan.done()) {  // 2.3: "comm 0x55b6 rank 0 nranks 2" and no more
    if (init.cuda_device != -1 || named.nodes || named.mnnvl) return false;
  } else {
    if (!scan.skip("- ")) return false;
    init.complete = scan.rest() == "Init COMPLETE" || scan.rest() == "COMPLETE";
    if (!init.complete && scan.rest() != "Init START") return false;
  }
  facts.emplace_back(std::move(init));
  return true;
}

bool read_communicator_end(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  Named named;
  if (!read_communicator(scan, message, named) || !scan.skip("- ")) return false;
  auto how = ending(scan.rest());
  if (!how) return false;
  CommunicatorInit& init = named.init;
  facts.emplace_back(CommunicatorEnd{init.communicator, init.rank, init.nranks, init.gpu, *how});
  return true;
}

bool read_communicator_shape(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  Named named;
  if (!read_communicator(scan, message, named) || !scan.done()) return false;
  // MNNVL comes last. Without it the line was cut, and the number before it may be cut too.
  if (!named.nodes || !named.local_ranks || !named.local_rank || !named.mnnvl) return false;
  const CommunicatorInit& init = named.init;
  facts.emplace_back(CommunicatorShape{init.communicator, init.rank, init.nranks, *named.nodes,
                                       *named.local_ranks, *named.local_rank});
  return true;
}

}  // namespace faultline
