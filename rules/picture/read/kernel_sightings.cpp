#include "rules/picture/read/kernel_sightings.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/pci_address.h"
#include "rules/picture/read/firmware_records.h"
#include "rules/picture/read/kernel_stacks.h"

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
// In a host's first minutes links come up, file systems are mounted and drivers find their devices.
constexpr std::int64_t kBootPhaseUs = 300 * kSecondUs;
// A driver that was taken down and is not back after this time is not coming back.
constexpr std::int64_t kMaintenanceUs = 600 * kSecondUs;

constexpr std::size_t kMostNics = 256;  // of one host

// A time in which failures are the result of maintenance.
struct Maintenance {
  const KernelSaying* begin = nullptr;
  std::uint64_t end = 0;  // order
};

std::vector<Maintenance> maintenance_of(const KernelLog& log,
                                        const std::vector<const KernelSighting*>& of_log) {
  std::vector<Maintenance> all;
  for (const KernelSighting* sighting : of_log) {
    if (sighting->signature->marks != Marks::maintenance_begins) continue;
    for (const KernelSaying& begin : sighting->text->sayings) {
      Maintenance maintenance{&begin, UINT64_MAX};
      for (const KernelBoot& boot : log.boots)
        if (boot.order > begin.order) maintenance.end = std::min(maintenance.end, boot.order);
      for (const KernelSighting* other : of_log)
        if (other->signature->marks == Marks::maintenance_ends)
          for (const KernelSaying& end : other->text->sayings)
            if (end.order > begin.order) maintenance.end = std::min(maintenance.end, end.order);
      all.push_back(maintenance);
    }
  }
  return all;
}

bool in_maintenance(const std::vector<Maintenance>& all, const KernelSaying& saying) {
  return std::ranges::any_of(all, [&](const Maintenance& maintenance) {
    if (saying.order < maintenance.begin->order || saying.order > maintenance.end) return false;
    const auto passed = microseconds_between(maintenance.begin->line.time, saying.line.time);
    return !passed || *passed <= kMaintenanceUs;
  });
}

bool while_booting(const KernelSighting& sighting, const KernelSaying& saying) {
  if (const auto uptime = saying.line.time.uptime_us) return *uptime < kBootPhaseUs;
  const KernelBoot* boot = sighting.log->boot_of(*sighting.text);
  if (boot == nullptr) return false;
  const auto passed = microseconds_between(boot->line.time, saying.line.time);
  return passed && *passed < kBootPhaseUs;
}

// Whether such lines are normal while a host boots. Errors of a GPU, memory, a CPU or a disk are
// not; of storage, only warnings are, as about disk links that are slowed down.
bool is_of_a_boot(const MessageSignature& signature) {
  const Cause cause = signature.cause;
  const bool only_warns = signature.severity < Severity::error;
  return !signature.lasts && signature.severity < Severity::critical &&
         (is_of(cause, {Family::network, Family::pcie, Family::config}) ||
          (cause == Cause::host_storage_stall && only_warns) || is(cause, Trait::not_understood));
}

void find_what_counts(KernelSighting& sighting, const std::vector<Maintenance>& maintenance,
                      const FirmwareRecords& records) {
  for (const KernelSaying& saying : sighting.text->sayings) {
    if (is_of_a_boot(*sighting.signature) && while_booting(sighting, saying)) continue;
    if (in_maintenance(maintenance, saying) || !records.counts(sighting, saying)) continue;
    if (sighting.first == nullptr) sighting.first = &saying;
    sighting.last = &saying;
  }
}

// All known names of the device that a line is about.
std::vector<std::string> names_of_device(const KernelSighting& sighting,
                                         const KernelDevices& devices) {
  std::vector<std::string> names;
  const KernelDevices::Names own{std::string(sighting.field("pci")),
                                 std::string(sighting.field("device")),
                                 std::string(sighting.field("netdev"))};
  const auto add = [&](const KernelDevices::Names& nic) {
    for (const std::string& name : {nic.pci, nic.device, nic.netdev})
      if (!name.empty()) names.push_back(name);
  };
  add(own);
  if (const KernelDevices::Names* nic = devices.nic(sighting.host, own)) add(*nic);
  if (std::string below = devices.below(sighting.host, sighting.field("bridge")); !below.empty())
    names.push_back(std::move(below));
  for (const char* field : {"server", "bridge"})
    if (const std::string_view name = sighting.field(field); !name.empty())
      names.emplace_back(name);
  return names;
}

// The lines of one log that say something of others, by the device that they are about.
class TellingLines {
 public:
  void add(const KernelSighting& sighting, const KernelDevices& devices) {
    if (sighting.signature->excuses.empty() && sighting.signature->recovers.empty()) return;
    for (const std::string& name : names_or_none(sighting, devices))
      by_name_[name].push_back(&sighting);
  }

  // Calls call(line) for each line of the same boot about the same part, perhaps more than once.
  template <class Call>
  void for_each_beside(const KernelSighting& sighting, const KernelDevices& devices,
                       const Call& call) const {
    if (by_name_.empty()) return;
    const std::string_view port = sighting.field("port");
    for (const std::string& name : names_or_none(sighting, devices)) {
      const auto known = by_name_.find(name);
      if (known == by_name_.end()) continue;
      for (const KernelSighting* other : known->second) {
        const std::string_view its = other->field("port");
        if (other->text->boot == sighting.text->boot &&
            (port.empty() || its.empty() || port == its))
          call(*other);
      }
    }
  }

 private:
  // Lines that name no device are about one part, whose name is empty.
  static std::vector<std::string> names_or_none(const KernelSighting& sighting,
                                                const KernelDevices& devices) {
    std::vector<std::string> names = names_of_device(sighting, devices);
    if (names.empty()) names.emplace_back();
    return names;
  }

  std::unordered_map<std::string, std::vector<const KernelSighting*>> by_name_;
};

// Drops a sighting that another line about the same part excuses: on a host without an NVSwitch, a
// fabric manager that does not run is no fault. A line that is a fault itself excuses only what
// came with it or after it.
void find_excuse(KernelSighting& sighting, const TellingLines& telling,
                 const KernelDevices& devices) {
  telling.for_each_beside(sighting, devices, [&](const KernelSighting& other) {
    constexpr std::int64_t kWithItUs = 5 * kSecondUs;
    const std::vector<std::string>& excused = other.signature->excuses;
    if (!sighting.counts() || std::ranges::find(excused, sighting.signature->id) == excused.end())
      return;
    if (other.signature->weight == Weight::cause) {
      const auto ahead =
          microseconds_between(sighting.first->line.time, other.text->first().line.time);
      if (ahead && *ahead > kWithItUs) return;
    }
    sighting.first = sighting.last = nullptr;
  });
}

void find_recovery(KernelSighting& sighting, const TellingLines& telling,
                   const KernelDevices& devices) {
  if (!sighting.counts()) return;
  telling.for_each_beside(sighting, devices, [&](const KernelSighting& other) {
    const std::vector<std::string>& over = other.signature->recovers;
    if (std::ranges::find(over, sighting.signature->id) == over.end()) return;
    for (const KernelSaying& saying : other.text->sayings)
      if (saying.order > sighting.last->order &&
          (sighting.recovery == nullptr || saying.order < sighting.recovery->order))
        sighting.recovery = &saying;
  });
}

// The host of a job that runs on only one: a kernel log that names no host is most likely from it.
std::string only_host(const View& view) {
  std::string only;
  for (const Worker& worker : view.workers.all) {
    if (worker.host.empty() || (!only.empty() && worker.host != only)) return {};
    only = worker.host;
  }
  return only;
}

std::vector<KernelSighting> matched(const View& view) {
  std::vector<KernelSighting> all;
  const std::string only = only_host(view);
  for (const KernelLog& log : view.job.kernel_lines().logs()) {
    std::string host = view.job.host_of(log.spoken_host, log.source);
    if (host.empty()) host = only;
    for (const KernelText& text : log.texts) {
      auto match = view.catalog.signatures->match(text.remark);
      if (!match) continue;
      for (const char* field : {"pci", "bridge"})
        if (const auto at = match->fields.find(field); at != match->fields.end())
          if (auto address = normal_pci(at->second)) at->second = std::move(*address);
      // A port may report about itself.
      if (const auto pci = match->fields.find("pci"), port = match->fields.find("bridge");
          pci != match->fields.end() && port != match->fields.end() && pci->second == port->second)
        match->fields.erase(pci);
      all.push_back({.log = &log,
                     .text = &text,
                     .signature = match->signature,
                     .fields = std::move(match->fields),
                     .host = host});
    }
  }
  return all;
}

// "kernel.amdgpu.ring_timeout" -> "kernel.amdgpu"
std::string_view driver_of(const MessageSignature& signature) {
  return std::string_view(signature.id).substr(0, signature.id.rfind('.'));
}

// A driver does not always name the device in the first line, but then names it in the next ones.
void lend_addresses(std::vector<KernelSighting>& all) {
  constexpr std::uint64_t kNext = 4;  // lines
  constexpr std::int64_t kAtOnceUs = 5'000'000;
  std::map<std::pair<std::uint32_t, std::uint64_t>, const KernelSighting*> named;  // source, line
  for (const KernelSighting& sighting : all)
    if (!sighting.field("pci").empty())
      for (const KernelSaying& saying : sighting.text->sayings)
        named.emplace(std::pair(saying.line.source, saying.line.line), &sighting);
  for (KernelSighting& sighting : all) {
    if (sighting.signature->blames != Blames::gpu || !sighting.field("pci").empty() ||
        sighting.text->sayings.empty())
      continue;
    const LineRef& line = sighting.text->sayings.front().line;
    std::set<std::string_view> devices;
    for (auto next = named.upper_bound({line.source, line.line});
         next != named.end() && next->first.first == line.source &&
         next->first.second <= line.line + kNext;
         ++next) {
      const KernelSighting& other = *next->second;
      const auto passed = microseconds_between(line.time, other.text->sayings.front().line.time);
      if (driver_of(*other.signature) == driver_of(*sighting.signature) &&
          other.host == sighting.host && passed && *passed <= kAtOnceUs)
        devices.insert(other.field("pci"));
    }
    if (devices.size() == 1) sighting.fields.insert_or_assign("pci", std::string(*devices.begin()));
  }
}

std::string port_key(const std::string& host, std::string_view bridge) {
  return host + '\n' + std::string(bridge);
}

}  // namespace

std::string_view KernelSighting::field(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t KernelSighting::pid() const {
  const std::string_view digits = field("pid");
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

KernelDevices::KernelDevices(const View& view, const std::vector<KernelSighting>& sightings) {
  for (const Nic& nic : view.job.nics().all())
    learn(view.job.host_of(nic.spoken_host, nic.source), {nic.pci, nic.device, nic.netdev});
  for (const KernelSighting& sighting : sightings) {
    const std::string pci(sighting.field("pci"));
    learn(sighting.host,
          {pci, std::string(sighting.field("device")), std::string(sighting.field("netdev"))});
    const std::string_view bridge = sighting.field("bridge");
    if (bridge.empty() || pci.empty() || pci == bridge) continue;
    auto [known, is_new] = below_.try_emplace(port_key(sighting.host, bridge), pci);
    if (!is_new && known->second != pci) known->second.clear();
  }
}

void KernelDevices::learn(const std::string& host, const Names& names) {
  const int told = !names.pci.empty() + !names.device.empty() + !names.netdev.empty();
  if (told < 2) return;
  std::vector<Names>& nics = nics_[host];
  const auto agrees = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
  };
  for (Names& known : nics) {
    const bool shares = (!names.pci.empty() && known.pci == names.pci) ||
                        (!names.device.empty() && known.device == names.device) ||
                        (!names.netdev.empty() && known.netdev == names.netdev);
    if (!shares || !agrees(known.pci, names.pci) || !agrees(known.device, names.device) ||
        !agrees(known.netdev, names.netdev))
      continue;
    if (known.pci.empty()) known.pci = names.pci;
    if (known.device.empty()) known.device = names.device;
    if (known.netdev.empty()) known.netdev = names.netdev;
    return;
  }
  if (nics.size() < kMostNics) nics.push_back(names);
}

const KernelDevices::Names* KernelDevices::nic(const std::string& host, const Names& known) const {
  const auto of_host = nics_.find(host);
  if (of_host == nics_.end()) return nullptr;
  for (const Names& nic : of_host->second)
    if ((!known.device.empty() && nic.device == known.device) ||
        (!known.netdev.empty() && nic.netdev == known.netdev) ||
        (!known.pci.empty() && nic.pci == known.pci))
      return &nic;
  return nullptr;
}

std::string KernelDevices::below(const std::string& host, std::string_view bridge) const {
  const auto known = below_.find(port_key(host, bridge));
  return known == below_.end() ? std::string() : known->second;
}

KernelSightings kernel_sightings_of(const View& view) {
  std::vector<KernelSighting> all = matched(view);
  lend_addresses(all);
  read_stacks(view, all);
  KernelDevices devices(view, all);
  std::map<const KernelLog*, std::vector<const KernelSighting*>> by_log;
  for (const KernelSighting& sighting : all) by_log[sighting.log].push_back(&sighting);
  std::map<const KernelLog*, std::vector<Maintenance>> maintenance;
  for (const auto& [log, of_log] : by_log) maintenance[log] = maintenance_of(*log, of_log);
  const FirmwareRecords records(all);
  for (KernelSighting& sighting : all)
    find_what_counts(sighting, maintenance[sighting.log], records);
  std::map<const KernelLog*, TellingLines> telling;
  for (const KernelSighting& sighting : all) telling[sighting.log].add(sighting, devices);
  for (KernelSighting& sighting : all) find_excuse(sighting, telling[sighting.log], devices);
  for (KernelSighting& sighting : all) find_recovery(sighting, telling[sighting.log], devices);
  return {std::move(all), std::move(devices)};
}

}  // namespace faultline
