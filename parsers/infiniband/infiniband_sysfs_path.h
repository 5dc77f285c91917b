// A file of an RDMA device or a network interface under /sys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace faultline {

struct SysfsPath {
  std::string pci;          // 0000:3b:00.0, if the path has it
  std::string_view device;  // mlx5_0
  std::string_view port;
  std::string_view netdev;
  std::string_view file;   // symbol_error, rate, gids/3
  std::string_view whole;  // the path as it stands in the text
};

// Takes a path off the front of text: /sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error,
// mlx5_0/ports/1/rate, /sys/class/net/eth0/statistics/rx_errors.
std::optional<SysfsPath> take_off_sysfs_path(std::string_view& text);

}  // namespace faultline
