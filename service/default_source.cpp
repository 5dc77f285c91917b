#include "service/default_source.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ingest/reader.h"
#include "parsers/performance/chrome_trace.h"
#include "parsers/torch/flight_recorder.h"
#include "service/resend_filter.h"

namespace faultline {
namespace {

bool begins_a_body(const Fingerprint& block, std::string_view beginning) {
  const std::uint64_t size = block.to_offset - block.from_offset;
  const auto compared = static_cast<std::size_t>(std::min<std::uint64_t>(size, kHeadBytes));
  return size > 0 && beginning.size() >= compared &&
         digest_of(beginning.substr(0, compared)) == block.head_digest;
}

bool holds_all_of(Store& store, const std::string& job, const NumberedSource& source,
                  std::string_view body) {
  ResendFilter filter({.starts = source.starts, .after = [&](std::int64_t batch) {
                         return store.blocks_after(job, source.name, batch);
                       }});
  filter.expect_whole_bodies();
  return filter.feed(body).empty() && filter.finish().empty();
}

// What the first lines of a body say about its source.
struct Beginning {
  std::set<std::pair<std::string, std::int64_t>> processes;
  std::set<std::string> dialects;
  std::optional<std::int64_t> first_wall_us;
  bool anew = false;  // a process or a kernel starts in these lines
};

bool is_of_a_start(const Fact& fact) {
  if (std::holds_alternative<HostBooted>(fact)) return true;
  const auto* setting = std::get_if<Setting>(&fact);
  return setting != nullptr && (setting->group == "version" || setting->group == "interface");
}

Beginning read_beginning(std::string_view text) {
  Beginning beginning;
  const std::size_t newline = text.rfind('\n');
  Reader reader(Cursor{}, utc_now());
  reader.feed(newline == std::string_view::npos ? text : text.substr(0, newline + 1));
  reader.close();
  const Batch batch = reader.take();
  for (const Speaker& speaker : batch.speakers)
    if (speaker.pid != 0) beginning.processes.emplace(short_host(speaker.host), speaker.pid);
  for (const auto& entry : batch.dialects) beginning.dialects.insert(entry.first);
  for (const Event& event : batch.events) {
    if (event.time.wall_us && !beginning.first_wall_us)
      beginning.first_wall_us = event.time.wall_us;
    beginning.anew |= is_of_a_start(event.fact);
  }
  return beginning;
}

template <class Set>
bool share(const Set& a, const Set& b) {
  return std::ranges::any_of(a, [&](const auto& one) { return b.contains(one); });
}

// A file may be posted in pieces. A log of another process, or one that starts anew, is another
// file. Lines that name no process are another file if they go back in time.
bool goes_on(const SourceState& source, const Beginning& beginning) {
  if (beginning.anew) return false;
  if (!beginning.processes.empty() || !source.processes.empty())
    return share(beginning.processes, source.processes) ||
           (beginning.dialects.empty() && source.end == SourceEnd::torn);
  if (beginning.dialects.empty()) return source.dialects.empty() || source.end == SourceEnd::torn;
  std::set<std::string> dialects;
  for (const auto& entry : source.dialects) dialects.insert(entry.first);
  const bool goes_back = beginning.first_wall_us && source.last_wall_us &&
                         *beginning.first_wall_us < *source.last_wall_us;
  return share(beginning.dialects, dialects) && !goes_back;
}

}  // namespace

bool has_default_source(Store& store, const std::string& job, const std::string& name) {
  return !store.numbered_sources(job, name).empty();
}

bool is_known_as_a_whole(std::string_view beginning) {
  if (trace_form(beginning.substr(0, kDumpFormBytes), false) != TraceForm::none) return true;
  const DumpForm form = dump_form(beginning.substr(0, kDumpFormBytes), false);
  return form == DumpForm::pickle || form == DumpForm::json;
}

std::shared_ptr<SourceLease> lease_default_source(LiveJobs& jobs, Store& store,
                                                  const std::string& job, const std::string& name,
                                                  std::string_view beginning,
                                                  std::function<void()> on_loss) {
  OpenSources& open = jobs.open_sources();
  const std::vector<NumberedSource> known = store.numbered_sources(job, name);
  const bool whole = is_known_as_a_whole(beginning);
  for (const NumberedSource& candidate : known) {
    const bool again = std::ranges::any_of(candidate.starts, [&](const HeldBlock& block) {
      return begins_a_body(block.print, beginning);
    });
    if (!again || (whole && !holds_all_of(store, job, candidate, beginning))) continue;
    if (auto lease = open.take_if_free(job, candidate.name, on_loss)) return lease;
  }
  if (!whole) {
    // The latest first: a body most likely continues the source that came last.
    std::vector<std::string> latest;
    for (auto candidate = known.rbegin(); candidate != known.rend(); ++candidate)
      latest.push_back(candidate->name);
    const Beginning told = read_beginning(beginning);
    for (const std::string& candidate : jobs.sources_that(
             job, latest, [&](const SourceState& source) { return goes_on(source, told); }))
      if (auto lease = open.take_if_free(job, candidate, on_loss)) return lease;
  }
  std::set<std::string> taken;
  for (const NumberedSource& source : known) taken.insert(source.name);
  return open.take_free(job, name, std::move(on_loss), taken);
}

}  // namespace faultline
