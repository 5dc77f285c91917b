// GPUs that fail, and what the driver prints about them.
#include <fmt/format.h>

#include <chrono>

#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"
#include "simulate/tool_reports.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

// Prints what the driver says about a GPU; the first time with the GPU's name.
class Driver {
 public:
  Driver(Injection& it, const Victim& victim)
      : it_(it), victim_(victim), slot_(victim.gpu_slot(it.cluster)) {
    say(0ms, fmt::format("NVRM: GPU at PCI:{}: GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de{:04x}", slot_,
                         victim.local));
  }

  void xid(microseconds after, int code, std::string_view text, bool names_process = true) {
    const std::string process =
        names_process ? fmt::format("pid={}, name=python3, ", victim_.pid) : "";
    say(after, fmt::format("NVRM: Xid (PCI:{}): {}, {}{}", slot_, code, process, text));
  }
  void say(microseconds after, std::string text) {
    it_.plan.hosts.say(victim_.host, victim_.when + after + 29us, std::move(text));
  }

 private:
  Injection& it_;
  const Victim& victim_;
  std::string slot_;
};

void row_is_marked(Injection& it, const Victim& victim) {
  Driver(it, victim)
      .xid(0ms, 63,
           "Row Remapper: New row (0x00000010c2a7e000) marked for remapping, reset "
           "gpu to activate.");
}

void falls_off(Injection& it, const Victim& victim) {
  const std::string gpu = victim.gpu(it.cluster);
  const std::string port = it.cluster.port_above(victim.local);
  auto& hosts = it.plan.hosts;
  const auto port_says = [&](microseconds before, std::string text) {
    hosts.say(victim.host, victim.when - before, fmt::format("pcieport {}: {}", port, text));
  };
  port_says(3s, fmt::format("AER: Uncorrectable (Fatal) error message received from {}", gpu));
  port_says(3s - 25us, "   [ 5] SDES                   (First)");
  Driver driver(it, victim);
  driver.xid(0ms, 79, "GPU has fallen off the bus.");
  driver.say(9us, fmt::format("NVRM: GPU {}: GPU has fallen off the bus.", gpu));
  // The driver cleans up after the processes on the other GPUs.
  for (int local = 0; local < it.cluster.gpus_per_host(); ++local) {
    if (local == victim.local) continue;
    Victim other = victim;
    other.local = local;
    other.pid = victim.pid - victim.local + local;
    other.when = victim.when + 1200ms;
    Driver(it, other).xid(std::chrono::milliseconds(local), 45, "Ch 00000008");
  }
}

void port_corrects_errors(Injection& it, const Victim& victim) {
  const std::string gpu = victim.gpu(it.cluster);
  for (const auto after : {0s, 9s}) {
    const auto say = [&](std::string text) {
      it.plan.hosts.say(victim.host, victim.when + after, std::move(text));
    };
    say(fmt::format("pcieport {}: AER: Correctable error message received from {}",
                    it.cluster.port_above(victim.local), gpu));
    say(
        fmt::format("nvidia {}: PCIe Bus Error: severity=Correctable, type=Data Link Layer, "
                    "(Receiver ID)",
                    gpu));
    say(fmt::format("nvidia {}:    [ 6] BadTLP                 (First)", gpu));
  }
}

void memory_fails(Injection& it, const Victim& victim) {
  Driver driver(it, victim);
  driver.xid(11us, 48,
             "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer "
             "at partition 7, subpartition 0.");
  driver.xid(20ms, 63,
             "Row Remapper: New row (0x00000010c2a7e000) marked for remapping, reset gpu to "
             "activate.");
  driver.xid(23ms, 94, "Contained: SM (0x1). RST: No, D-RST: No");
}

void no_row_is_left(Injection& it, const Victim& victim) {
  Driver(it, victim)
      .xid(0ms, 64,
           "Row Remapper Error: (0x0000001180040000) - All reserved rows for bank "
           "are remapped",
           false);
}

void link_fails(Injection& it, const Victim& victim) {
  Driver(it, victim)
      .xid(0ms, 74,
           "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
}

// An Xid that NVIDIA says to ignore.
void link_mentions(Injection& it, const Victim& victim) {
  Driver(it, victim)
      .xid(0ms, 149,
           "NETIR_LINK_EVT  Nonfatal   XC1 i0 Link 11 (0x02600086 0x00000000 "
           "0x00000000 0x00000000 0x00000000)",
           false);
}

void firmware_hangs(Injection& it, const Victim& victim) {
  Driver driver(it, victim);
  driver.xid(6s, 119,
             fmt::format("Timeout after 6s of waiting for RPC response from GPU{} GSP! Expected "
                         "function 76 (GSP_RM_CONTROL) (0x2080a0a4 0x4ac).",
                         victim.local));
  driver.say(6s + 40us, fmt::format("NVRM: GPU{} RPC history (CPU -> GSP):", victim.local));
  driver.say(6s + 55us,
             "NVRM:      0    76   GSP_RM_CONTROL        0x000000002080a0a4 0x00000000000004ac "
             "0x00062b1f0b2c5e51 0x0000000000000000          y");
  driver.xid(12s, 119,
             fmt::format("Timeout after 6s of waiting for RPC response from GPU{} GSP! Expected "
                         "function 10 (FREE) (0xbeef0100 0x0).",
                         victim.local));
}

void controller_halts(Injection& it, const Victim& victim) {
  Driver driver(it, victim);
  driver.xid(0ms, 62, "2a5c(2d14) 8502a1c4 00000000", false);
  driver.xid(400us, 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
             false);
}

void touches_what_is_not_its(Injection& it, const Victim& victim) {
  Driver driver(it, victim);
  driver.xid(0ms, 31,
             "Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC0 GPCCLIENT_T1_2 faulted @ "
             "0x7f21_ac000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ");
  driver.xid(300ms, 43, "Ch 00000010");
}

void stop_gpu(Injection& it, const Trouble& trouble) {
  if (const auto stopped = stop_by(it, trouble)) it.blame_gpu(stopped->rank);
}

}  // namespace

void gpu_off_bus(Injection& it) {
  const Trouble trouble{.happens = falls_off, .is_harmless = port_corrects_errors};
  const auto stopped = stop_by(it, trouble);
  if (!stopped) return;
  it.blame_gpu(stopped->rank);
}

void gpu_ecc(Injection& it) {
  stop_gpu(it, {.happens = memory_fails, .is_harmless = row_is_marked});
}

void gpu_row_remap(Injection& it) {
  stop_gpu(it, {.happens = no_row_is_left, .is_harmless = row_is_marked});
}

void gpu_nvlink(Injection& it) {
  stop_gpu(it, {.happens = link_fails, .is_harmless = link_mentions});
}

void gpu_gsp(Injection& it) { stop_gpu(it, {.happens = firmware_hangs}); }

void gpu_hang(Injection& it) { stop_gpu(it, {.happens = controller_halts}); }

// NCCL does not notice.
void gpu_page_fault(Injection& it) {
  if (const auto stopped = stop_by(it, {.happens = touches_what_is_not_its}))
    it.blame_rank(stopped->rank);
}

namespace {

std::string of_switch(int code, std::string_view text) {
  return fmt::format("nvidia-nvswitch3: SXid (PCI:0000:86:00.0): {:05}, {}", code, text);
}

void switch_fails(Injection& it, const Victim& victim) {
  const auto say = [&](microseconds after, std::string text) {
    it.plan.hosts.say(victim.host, victim.when + after, std::move(text));
  };
  say(0us, of_switch(24007, "Fatal, Link 12 sourcetrack timeout error (First)"));
  say(11us, of_switch(24007, "Severity 1 Engine instance 12 Sub-engine instance 00"));
  say(20us, of_switch(24007,
                      "Data {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, "
                      "0x00000000, 0x00000000, 0x00000000, 0x00000000}"));
}

void switch_mentions(Injection& it, const Victim& victim) {
  it.plan.hosts.say(victim.host, victim.when,
                    of_switch(22013, "Non-fatal, Link 40 Minion Link DLREQ interrupt (First)"));
}

}  // namespace

// All ranks on the host enter, none leaves.
void gpu_nvswitch(Injection& it) {
  const Trouble trouble{
      .happens = switch_fails, .is_harmless = switch_mentions, .whole_host = true};
  const int rank = it.any_rank();
  const int slot = it.communicators.slot_of(Group::tensor).value_or(0);
  const Place place = it.any_place(
      rank, [&](const Call& call) { return call.slot == slot && !is_peer_to_peer(call.function); });
  const Victim victim = victim_of(it, rank, place);
  if (is_twin(it, trouble, victim)) return;
  it.block(it.seat(rank, slot).communicator, place);
  switch_fails(it, victim);
  it.blame_host(it.cluster.host_of(rank));
}

namespace {

void report(Injection& it, const Victim& victim, const GpuReport& odd, const GpuReport& usual) {
  std::vector<GpuReport> gpus;
  const int last = std::max(it.cluster.gpus_per_host(), victim.local + 1);
  for (int local = 0; local < last; ++local) {
    gpus.push_back(local == victim.local ? odd : usual);
    gpus.back().pci = it.cluster.pci_address(local);
  }
  it.plan.files[victim.host + "/nvidia-smi-q.txt"] = nvidia_smi_q(victim.when, gpus);
}

void grows_hot(Injection& it, const Victim& victim) {
  report(it, victim, {.temperature = 91, .thermal_slowdown = true}, {});
}

// Every GPU at work reaches its power limit.
void reaches_its_limit(Injection& it, const Victim& victim) {
  report(it, victim, {.power_cap = true}, {.power_cap = true});
}

void link_is_narrow(Injection& it, const Victim& victim) {
  report(it, victim, {.link_generation = 5, .link_width = 8}, {});
  it.plan.hosts.say(
      victim.host, it.plan.hosts.booted(victim.host) + 33s + 700ms,
      fmt::format("nvidia {}: 252.048 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 "
                  "link at {} (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)",
                  victim.gpu(it.cluster), it.cluster.port_above(victim.local)));
}

// An idle GPU saves power.
void link_rests(Injection& it, const Victim& victim) {
  const GpuReport idle{.link_generation = 1, .utilization = 0, .temperature = 33};
  report(it, victim, idle, idle);
}

// The job is slow, but finishes.
void slow_gpu(Injection& it, const Trouble& trouble) {
  const int rank = it.any_rank();
  const Victim victim = victim_of(it, rank, {it.any_step(), 0});
  if (is_twin(it, trouble, victim)) return;
  trouble.happens(it, victim);
  it.blame_gpu(rank);
}

}  // namespace

void gpu_thermal(Injection& it) {
  slow_gpu(it, {.happens = grows_hot, .is_harmless = reaches_its_limit});
}

void pcie_degraded(Injection& it) {
  slow_gpu(it, {.happens = link_is_narrow, .is_harmless = link_rests});
}

namespace {

void port_gives_up(Injection& it, const Victim& victim) {
  const std::string gpu = victim.gpu(it.cluster);
  const auto say = [&](microseconds after, std::string text) {
    it.plan.hosts.say(victim.host, victim.when + after,
                      fmt::format("pcieport {}: {}", it.cluster.port_above(victim.local), text));
  };
  say(0us, fmt::format("AER: Uncorrectable (Fatal) error message received from {}", gpu));
  say(21us,
      "PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Receiver ID)");
  say(30us, "   [18] MalfTLP                (First)");
  say(1400ms, "AER: device recovery failed");
}

}  // namespace

void pcie_error(Injection& it) {
  stop_gpu(it, {.happens = port_gives_up, .is_harmless = port_corrects_errors});
}

}  // namespace faultline::simulation
