// What tools say of one part of a machine: perfquery of a port, nvidia-smi of a GPU, ip of an
// interface. The names of quantities and of states are as the tool spells them;
// rules/knowledge/catalog/ says what they mean, and which of them mean the same.
#pragma once

#include <boost/describe.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct NamedValue {
  std::string name;
  std::string value;
  bool operator==(const NamedValue&) const = default;
};
BOOST_DESCRIBE_STRUCT(NamedValue, (), (name, value))

// One part at one moment. A later report of the same tool on the same part is a second sample.
struct PartReport {
  static constexpr std::string_view kKind = "part_report";
  std::string tool;  // perfquery, perfquery_extended, ibstat, nvidia-smi, ethtool, …
  std::string kind;  // port, gpu, nvlink, netdev, pci, path, host, switch_port, peer_port
  // Every name that the tool has for the part, because other tools use other names: device
  // (mlx5_4), port (1), guid, lid, node (gpu-7 mlx5_1), netdev, pci (0000:3b:00.0), uuid, serial,
  // index, link, from, to. A name that the text leaves out is absent.
  std::vector<NamedValue> names;
  std::vector<NamedValue> values;
  bool operator==(const PartReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(PartReport, (), (tool, kind, names, values))

}  // namespace faultline
