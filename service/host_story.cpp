#include "service/host_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <tuple>

#include "model/pci_address.h"
#include "service/offences.h"

namespace faultline {
namespace {

// Which GPU an address means, together with the UUID if a job shows it.
class Boards {
 public:
  explicit Boards(const std::vector<HostInJob>& jobs) {
    for (const HostInJob& in : jobs)
      for (const HostGpu& gpu : in.view->gpus) {
        if (gpu.uuid.empty() || gpu.gpu.empty()) continue;
        uuids_[gpu.gpu].insert(gpu.uuid);
        address_[gpu.uuid] = gpu.gpu;
      }
  }

  using Key = std::pair<std::string, std::string>;  // address and UUID
  Key meant_by(const std::string& address, const std::string& uuid) const {
    if (address.empty()) {
      const auto known = address_.find(uuid);
      return {known == address_.end() ? "" : known->second, uuid};
    }
    if (!uuid.empty()) return {address, uuid};
    const auto known = uuids_.find(address);
    // Several boards had this address, and nothing says which one is meant.
    if (known == uuids_.end() || known->second.size() > 1) return {address, ""};
    return {address, *known->second.begin()};
  }

 private:
  std::map<std::string, std::set<std::string>> uuids_;
  std::map<std::string, std::string> address_;
};

std::string uuid_in(const std::vector<HostInJob>& jobs, const Offence& offence) {
  for (const HostInJob& in : jobs)
    if (in.job->job == offence.stored.job)
      for (const HostGpu& gpu : in.view->gpus)
        if (gpu.gpu == offence.part) return gpu.uuid;
  return {};
}

// The order of the list: the latest event first, events without a time last.
auto rank_of(const EventInJob& in) {
  const auto time = in.event->last ? in.event->last->time_since_epoch().count()
                                   : std::numeric_limits<std::int64_t>::min() + 1;
  return std::make_tuple(-time, std::string_view(*in.job), std::string_view(in.event->source),
                         in.event->line, std::string_view(in.event->kind), in.event->code);
}

constexpr char kBetween = '\x1f';

}  // namespace

bool GpuStory::is_called(std::string_view name) const {
  if (name.empty()) return false;
  return name == uuid || name == serial || (!gpu.empty() && normal_pci(name) == gpu);
}

std::vector<GpuStory> gpus_of_host(const std::string& host, const std::vector<HostInJob>& jobs,
                                   const std::vector<const Offence*>& offences) {
  const Boards boards(jobs);
  std::map<Boards::Key, GpuStory> stories;
  // Jobs come latest first, so this goes backwards: the latest serial number counts.
  for (auto in = jobs.rbegin(); in != jobs.rend(); ++in)
    for (const HostGpu& gpu : in->view->gpus) {
      if (gpu.gpu.empty() && gpu.uuid.empty()) continue;
      GpuStory& story = stories[boards.meant_by(gpu.gpu, gpu.uuid)];
      if (!gpu.serial.empty()) story.serial = gpu.serial;
      story.seen.push_back(&gpu);
    }
  for (const Offence* offence : offences)
    stories[boards.meant_by(offence->part, uuid_in(jobs, *offence))].failures.push_back(offence);
  std::vector<GpuStory> all;
  for (auto& [key, story] : stories) {
    story.gpu = key.first;
    story.uuid = key.second;
    keep_first_of_each_event(story.failures);
    std::ranges::stable_sort(story.failures, {},
                             [](const Offence* offence) { return time_of(offence->stored); });
    std::vector<Failure> failures;
    for (const Offence* offence : story.failures)
      failures.push_back(
          {offence->stored.job, offence->stored.finding.cause, time_of(offence->stored)});
    story.repeat = repeat_of(fmt::format("GPU {} on {}", story.gpu, host), failures);
    all.push_back(std::move(story));
  }
  return all;
}

std::vector<EventInJob> events_of_host(const std::vector<HostInJob>& jobs) {
  std::vector<EventInJob> events;
  for (const HostInJob& in : jobs)
    for (const HostEvent& event : in.view->events) events.push_back({&in.job->job, &event});
  std::ranges::sort(events, {}, rank_of);
  return events;
}

std::string place_of(const EventInJob& event) {
  const auto [time, job, source, line, kind, code] = rank_of(event);
  return fmt::format("{}{}{}{}{}{}{}{}{}{}{}", time, kBetween, job, kBetween, source, kBetween,
                     line, kBetween, kind, kBetween, code ? std::to_string(*code) : "");
}

std::optional<std::size_t> page_after(const std::vector<EventInJob>& events,
                                      std::string_view place) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= place.size();) {
    const std::size_t end = std::min(place.find(kBetween, from), place.size());
    parts.push_back(place.substr(from, end - from));
    from = end + 1;
  }
  const auto number = [](std::string_view text, auto& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  };
  std::int64_t time = 0;
  std::uint64_t line = 0;
  int code = 0;
  if (parts.size() != 6 || !number(parts[0], time) || !number(parts[3], line)) return std::nullopt;
  std::optional<int> last_code;
  if (!parts[5].empty()) {
    if (!number(parts[5], code)) return std::nullopt;
    last_code = code;
  }
  const auto last = std::make_tuple(time, parts[1], parts[2], line, parts[4], last_code);
  const auto next = std::ranges::upper_bound(events, last, {}, rank_of);
  return static_cast<std::size_t>(next - events.begin());
}

}  // namespace faultline
