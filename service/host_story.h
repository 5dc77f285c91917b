// One host across its jobs, put together from the state of each job and from the findings in the
// store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/live_jobs.h"
#include "service/repeats.h"
#include "store/store.h"

namespace faultline {

// A host in one job; `view` lives as long as `job`.
struct HostInJob {
  const LiveJobs::JobOnHosts* job = nullptr;
  const HostView* view = nullptr;
};

struct GpuStory {
  std::string gpu;
  std::string uuid;  // two boards that were in one slot are two GPUs
  std::string serial;
  std::vector<const Offence*> failures;  // oldest first
  std::optional<Repeat> repeat;
  std::vector<const HostGpu*> seen;  // in its jobs

  bool is_called(std::string_view name) const;  // by address, UUID or serial number
};

// offences: of this host, as the store has them.
std::vector<GpuStory> gpus_of_host(const std::string& host, const std::vector<HostInJob>& jobs,
                                   const std::vector<const Offence*>& offences);

struct EventInJob {
  const std::string* job = nullptr;
  const HostEvent* event = nullptr;
};

// Latest first; those without a time last.
std::vector<EventInJob> events_of_host(const std::vector<HostInJob>& jobs);

// The place of an event in the list, as text; a page may begin after it.
std::string place_of(const EventInJob& event);
// The index at which the page after `place` begins; nothing if place_of() did not make `place`.
std::optional<std::size_t> page_after(const std::vector<EventInJob>& events,
                                      std::string_view place);

}  // namespace faultline
