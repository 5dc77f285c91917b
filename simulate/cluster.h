// The hosts of a job, their GPUs and NICs, and the processes of an attempt.
#pragma once

#include <cstdint>
#include <string>

#include "simulate/options.h"

namespace faultline::simulation {

class Cluster {
 public:
  explicit Cluster(const Options& options) : options_(options) {}

  int ranks() const { return options_.nodes * options_.gpus_per_node; }
  int hosts() const { return options_.nodes; }
  int gpus_per_host() const { return options_.gpus_per_node; }

  int host_of(int rank) const { return rank / options_.gpus_per_node; }
  int local_of(int rank) const { return rank % options_.gpus_per_node; }

  static std::string host_name(int host);
  std::string host_name_of(int rank) const { return host_name(host_of(rank)); }

  // Each GPU has a NIC of its own behind the same switch.
  int nics_per_host() const { return options_.gpus_per_node; }
  static std::string nic_name(int nic);
  static std::string_view link_layer(const Options& options);

  std::string address(int host) const;                  // 10.0.0.11
  std::string fabric_address(int host, int nic) const;  // of a NIC, on RoCE
  std::uint64_t bus(int local) const;                   // 0x3b000, as NCCL prints it
  std::string pci_address(int local) const;             // 0000:3b:00.0
  // The addresses of the NIC beside a GPU, and of the PCIe port above both.
  std::string nic_pci_address(int local) const;  // 0000:3c:00.0
  std::string port_above(int local) const;       // 0000:39:01.0
  // The number in the process's own container, and the number that the host's kernel uses.
  std::int64_t pid(int rank, int attempt) const;
  std::int64_t kernel_pid(int rank, int attempt) const;

  const Options& options() const { return options_; }

 private:
  Options options_;
};

}  // namespace faultline::simulation
