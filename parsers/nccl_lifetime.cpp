#include "parsers/nccl_lifetime.h"

#include "model/pci_address.h"
#include "parsers/scan.h"

namespace faultline {
namespace {

// The words between "comm" and the dash, in whatever order and number a version prints them.
bool read_fields(Scan& scan, CommunicatorInit& init) {
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

}  // namespace

std::optional<Fact> parse_nccl_lifetime(std::string_view message) {
  while (!message.empty() && (message.back() == '\r' || message.back() == ' '))
    message.remove_suffix(1);
  Scan scan(message);
  CommunicatorInit init;
  int ignored = 0;
  if (scan.skip("[Rank ")) {  // 2.29 and later, in START only
    if (!scan.integer(ignored) || !scan.skip("] ")) return std::nullopt;
  }
  if (scan.peek() == 'n') init.function = scan.word(), scan.skip_blanks();
  if (!init.function.empty() && !init.function.starts_with("ncclComm")) return std::nullopt;
  if (!scan.skip("comm ") || !scan.pointer(init.communicator)) return std::nullopt;
  if (!read_fields(scan, init)) return std::nullopt;

  if (scan.done()) {  // 2.3: "comm 0x55b6 rank 0 nranks 2" and no more
    if (init.cuda_device != -1) return std::nullopt;
    return init;
  }
  if (!scan.skip("- ")) return std::nullopt;
  std::string_view what = scan.rest();
  if (what == "Init START") return init;
  if (what == "Init COMPLETE" || what == "COMPLETE") {
    init.complete = true;
    return init;
  }
  if (auto how = ending(what))
    return CommunicatorEnd{init.communicator, init.rank, init.nranks, init.gpu, *how};
  return std::nullopt;
}

}  // namespace faultline
