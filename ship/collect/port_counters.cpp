#include "ship/collect/port_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "model/time.h"
#include "ship/small_file.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.insert(entry->path().filename().string());
  return names;
}

// As `grep -H .` prints them.
std::string counters_of_ports(const fs::path& devices, const CommandLimits& limits) {
  constexpr std::size_t kMostOfAValue = 256;
  const auto until = std::chrono::steady_clock::now() + limits.time;
  std::string text;
  for (const std::string& device : names_in(devices))
    for (const std::string& port : names_in(devices / device / "ports"))
      for (const char* group : {"counters", "hw_counters"}) {
        const fs::path folder = devices / device / "ports" / port / group;
        for (const std::string& counter : names_in(folder)) {
          // Firmware that hangs lets each read wait.
          if (std::chrono::steady_clock::now() > until || text.size() > limits.bytes)
            return text + "faultline: cut, the other counters are missing\n";
          const std::string file = (folder / counter).string();
          std::string value = read_small_file(file, kMostOfAValue);
          value = value.substr(0, value.find('\n'));
          if (!value.empty()) text += fmt::format("{}:{}\n", file, value);
        }
      }
  return text;
}

}  // namespace

Gathered gather_port_counters(const std::string& sys, std::chrono::milliseconds between,
                              CommandRunner& commands, const CommandLimits& limits,
                              const std::atomic<bool>& stopped) {
  const fs::path devices = fs::path(sys) / "class/infiniband";
  std::set<std::string> interfaces = names_in(fs::path(sys) / "class/net");
  interfaces.erase("lo");
  // bonding_masters is a file; and no name may pass for an option.
  std::erase_if(interfaces, [&](const std::string& name) {
    std::error_code error;
    return !fs::is_directory(fs::path(sys) / "class/net" / name, error) || name.starts_with('-');
  });
  const bool has_ethtool = commands.has("ethtool");
  Gathered gathered;
  std::string text;
  const auto sample = [&] {
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    const std::string ports = counters_of_ports(devices, limits);
    std::string of_interfaces;
    for (const std::string& name : interfaces) {
      if (!has_ethtool || of_interfaces.size() > limits.bytes) break;
      const CommandResult result = commands.run({"ethtool", "-S", name}, limits);
      of_interfaces += fmt::format("$ ethtool -S {}\n{}", name, result.output);
    }
    if (!ports.empty() || !of_interfaces.empty())
      text += fmt::format("{}\n{}{}", to_rfc3339(now), ports, of_interfaces);
  };
  sample();
  if (!text.empty()) {
    const auto until = std::chrono::steady_clock::now() + between;
    while (!stopped && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::min(between, std::chrono::milliseconds{100}));
    sample();
  }
  gathered.ran = fmt::format("read {}; {}", devices.string(),
                             has_ethtool ? "ethtool -S of the interfaces" : "without ethtool");
  if (text.empty())
    gathered.failure = "there are no InfiniBand ports, and ethtool tells nothing";
  else
    gathered.texts.push_back({.part = {}, .text = std::move(text)});
  return gathered;
}

}  // namespace faultline
