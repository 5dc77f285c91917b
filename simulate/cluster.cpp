#include "simulate/cluster.h"

#include <fmt/format.h>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

constexpr std::uint64_t kBuses[] = {0x19, 0x3b, 0x4c, 0x5d, 0x9b, 0xbb, 0xcb, 0xdb};
constexpr int kBusesHere = 8;

}  // namespace

std::string Cluster::host_name(int host) { return fmt::format("gpu-node-{}", host + 1); }

std::string Cluster::nic_name(int nic) { return fmt::format("mlx5_{}", nic); }

std::string_view Cluster::link_layer(const Options& options) {
  return options.seed % 2 == 0 ? "RoCE" : "IB";
}

std::string Cluster::address(int host) const {
  return fmt::format("10.0.{}.{}", (host + 11) / 250, (host + 11) % 250);
}

std::string Cluster::fabric_address(int host, int nic) const {
  return fmt::format("10.{}.{}.{}", nic + 1, (host + 11) / 250, (host + 11) % 250);
}

std::uint64_t Cluster::bus(int local) const {
  // Machines with more than eight GPUs have a second PCI domain.
  const auto domain = static_cast<std::uint64_t>(local / kBusesHere);
  return domain << 20 | kBuses[local % kBusesHere] << 12;
}

std::string Cluster::pci_address(int local) const {
  return fmt::format("{:04x}:{:02x}:00.0", local / kBusesHere, kBuses[local % kBusesHere]);
}

std::string Cluster::nic_pci_address(int local) const {
  return fmt::format("{:04x}:{:02x}:00.0", local / kBusesHere, kBuses[local % kBusesHere] + 1);
}

std::string Cluster::port_above(int local) const {
  return fmt::format("{:04x}:{:02x}:01.0", local / kBusesHere, kBuses[local % kBusesHere] - 2);
}

std::int64_t Cluster::pid(int rank, int attempt) const {
  // Every pod numbers its processes from 1.
  if (options_.containers) return 65 + 3 * std::int64_t{local_of(rank)};
  return kernel_pid(rank, attempt);
}

std::int64_t Cluster::kernel_pid(int rank, int attempt) const {
  const std::uint64_t first = chance(options_.seed, 0x9d, host_of(rank), attempt) % 20'000;
  return static_cast<std::int64_t>(first) + 3'000 + std::int64_t{60'000} * (attempt - 1) +
         local_of(rank);
}

}  // namespace faultline::simulation
