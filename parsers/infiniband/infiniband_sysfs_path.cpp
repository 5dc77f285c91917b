#include "parsers/infiniband/infiniband_sysfs_path.h"

#include <algorithm>

#include "model/pci_address.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kRdma = "/infiniband/";
constexpr std::string_view kNet = "/net/";

std::string_view take_off_component(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view component = path.substr(0, slash);
  path.remove_prefix(std::min(component.size() + 1, path.size()));
  return component;
}

// The file, without the folders that only group files.
void name_file(std::string_view path, SysfsPath& named) {
  for (const std::string_view folder :
       {"counters/", "hw_counters/", "counters_ext/", "statistics/"})
    if (take_off(path, folder)) break;
  named.file = path;
}

bool read_rdma(std::string_view path, SysfsPath& named) {
  named.device = take_off_component(path);
  if (named.device.empty()) return false;
  if (take_off(path, "ports/")) named.port = take_off_component(path);
  name_file(path, named);
  return !named.file.empty() && (named.port.empty() || is_decimal(named.port));
}

bool read_net(std::string_view path, SysfsPath& named) {
  named.netdev = take_off_component(path);
  name_file(path, named);
  return !named.netdev.empty() && !named.file.empty();
}

}  // namespace

std::optional<SysfsPath> take_off_sysfs_path(std::string_view& text) {
  constexpr std::string_view kSys = "/sys/";
  SysfsPath named;
  std::size_t parent = 0;  // where the path of the device begins
  bool rdma = true;
  if (text.starts_with(kSys)) {
    const std::string_view head = text.substr(0, std::min<std::size_t>(text.size(), 512));
    const std::size_t of_rdma = head.find(kRdma);
    const std::size_t of_net = head.find(kNet);
    rdma = of_rdma != head.npos;
    if (!rdma && of_net == head.npos) return std::nullopt;
    const std::size_t at = rdma ? of_rdma : of_net;
    parent = at + (rdma ? kRdma.size() : kNet.size());
    const std::string_view before = head.substr(0, at);
    if (before.find(' ') != before.npos) return std::nullopt;
    const std::string_view last = before.substr(before.rfind('/') + 1);
    named.pci = normal_pci(last).value_or("");
  } else {
    const std::size_t slash = text.find('/');
    if (slash == text.npos || !text.substr(slash).starts_with("/ports/") ||
        !is_rdma_device(text.substr(0, slash)))
      return std::nullopt;
  }
  const std::size_t end = std::min(text.find_first_of(":= \t\"", parent), text.size());
  named.whole = text.substr(0, end);
  const std::string_view path = text.substr(parent, end - parent);
  if (!(rdma ? read_rdma(path, named) : read_net(path, named))) return std::nullopt;
  text.remove_prefix(end);
  return named;
}

}  // namespace faultline
