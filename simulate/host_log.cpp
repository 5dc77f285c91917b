#include "simulate/host_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "simulate/calendar.h"
#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

std::int64_t microseconds_of(Timestamp time, Timestamp since) {
  return std::chrono::duration_cast<microseconds>(time - since).count();
}

std::string iso_with_microseconds(Timestamp time, char separator) {
  std::string text = nanosecond_stamp(time);  // 2026-03-05T02:46:59.120045000Z
  text.resize(text.size() - 4);
  text[text.rfind('.')] = separator;
  return text + "+00:00";
}

std::string uptime_stamp(Timestamp time, Timestamp booted) {
  const std::int64_t us = microseconds_of(time, booted);
  return fmt::format("[{:>5}.{:06}]", us / 1'000'000, us % 1'000'000);
}

void write(std::string& out, Framing framing, const std::string& host, Timestamp booted,
           Timestamp when, const std::string& text) {
  const auto to = std::back_inserter(out);
  switch (framing) {
    case Framing::uptime:
      fmt::format_to(to, "{} {}\n", uptime_stamp(when, booted), text);
      return;
    case Framing::wall:
      fmt::format_to(to, "[{}] {}\n", ctime_stamp(when), text);
      return;
    case Framing::iso:
      fmt::format_to(to, "{} {}\n", iso_with_microseconds(when, ','), text);
      return;
    case Framing::journal:
      fmt::format_to(to, "{} {} kernel: {}\n", short_iso(when), host, text);
      return;
    case Framing::rfc5424:
      fmt::format_to(to, "<4>1 {} {} kernel - - - {}\n", iso_with_microseconds(when, '.'), host,
                     text);
      return;
    case Framing::syslog:
      fmt::format_to(to, "{} {} kernel: {} {}\n", syslog_stamp(when), host,
                     uptime_stamp(when, booted), text);
      return;
  }
}

std::string_view file_of(Framing framing) {
  switch (framing) {
    case Framing::journal:
      return "journal-k.txt";
    case Framing::rfc5424:
    case Framing::syslog:
      return "kern.log";
    default:
      return "dmesg.txt";
  }
}

}  // namespace

Framing framing_of(const Options& options) {
  if (options.wrapper == "syslog") return Framing::syslog;
  if (options.wrapper == "journal") return Framing::journal;
  constexpr Framing kAny[] = {Framing::uptime, Framing::wall, Framing::iso, Framing::journal,
                              Framing::rfc5424};
  std::uint64_t drawn = chance(options.seed, 0xd3e59);
  for (const std::string& text : {options.scenario, options.nccl, options.wrapper})
    for (const char c : text) drawn = mixed(drawn ^ static_cast<std::uint64_t>(c));
  return kAny[drawn % std::size(kAny)];
}

void HostLogs::boot(const Cluster& cluster, const std::string& host, Timestamp when) {
  hosts_[host].boots.push_back(when);
  const auto at = [&](double seconds, std::string text) {
    hosts_[host].lines.push_back(
        {when + microseconds(static_cast<std::int64_t>(seconds * 1e6)), std::move(text), true});
  };
  at(0.0,
     "Linux version 5.15.0-113-generic (buildd@lcy02-amd64-072) (gcc (Ubuntu 11.4.0-1ubuntu1) "
     "11.4.0) #123-Ubuntu SMP Mon Jun 10 08:16:17 UTC 2024");
  at(0.0, "Command line: BOOT_IMAGE=/vmlinuz-5.15.0-113-generic root=/dev/md0 ro pci=realloc=off");
  at(0.31, "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.");
  const Timestamp clock = std::chrono::floor<std::chrono::seconds>(when + 2400ms);
  std::string day = nanosecond_stamp(clock);
  day.resize(day.find('.'));
  at(2.4, fmt::format(
              "rtc_cmos 00:03: setting system clock to {} UTC ({})", day,
              std::chrono::duration_cast<std::chrono::seconds>(clock.time_since_epoch()).count()));
  at(3.1, "EDAC MC: Ver: 3.0.0");
  for (int local = 0; local < cluster.gpus_per_host(); ++local) {
    const std::string nic = cluster.nic_pci_address(local);
    const double later = 11.2 + 0.4 * local;
    at(3.5 + 0.01 * local, fmt::format("pcieport {}: AER: enabled with IRQ {}",
                                       cluster.port_above(local), 121 + local));
    at(later, fmt::format("mlx5_core {}: firmware version: 28.39.1002", nic));
    at(later + 0.1, fmt::format("mlx5_core {}: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s "
                                "PCIe x16 link)",
                                nic));
    at(later + 0.2, fmt::format("mlx5_core {}: Port module event: module 0, Cable plugged", nic));
    at(later + 9,
       fmt::format("mlx5_core {}: {}: Port: 1 Link DOWN", nic, Cluster::nic_name(local)));
    at(later + 14,
       fmt::format("mlx5_core {}: {}: Port: 1 Link ACTIVE", nic, Cluster::nic_name(local)));
  }
  at(33.0, "nvidia: loading out-of-tree module taints kernel.");
  at(33.1, "nvidia-nvlink: Nvlink Core is being initialized, major device number 235");
  at(33.4,
     "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  "
     "(builder@buildfarm)");
  at(34.7, "nvidia-uvm: Loaded the UVM driver, major device number 505.");
  at(2711.2,
     "perf: interrupt took too long (2503 > 2500), lowering "
     "kernel.perf_event_max_sample_rate to 79750");
}

void HostLogs::say(const std::string& host, Timestamp when, std::string text) {
  hosts_[host].lines.push_back({when, std::move(text), false});
}

std::map<std::string, std::string> HostLogs::files(const Options& options) const {
  const Framing framing =
      journal_ && options.wrapper != "syslog" ? Framing::journal : framing_of(options);
  const bool one_boot =
      framing == Framing::uptime || framing == Framing::wall || framing == Framing::iso;
  std::map<std::string, std::string> files;
  for (const auto& [host, its] : hosts_) {
    std::vector<Line> lines = its.lines;
    std::ranges::stable_sort(lines, {}, &Line::when);
    std::string& text = files[fmt::format("{}/{}", host, file_of(framing))];
    for (const Line& line : lines) {
      if (one_boot && line.when < its.boots.back()) continue;
      if (!options.booted && line.of_boot) continue;
      Timestamp booted = its.boots.front();
      for (const Timestamp boot : its.boots)
        if (boot <= line.when) booted = boot;
      write(text, framing, host, booted, line.when, line.text);
    }
  }
  return files;
}

}  // namespace faultline::simulation
