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

// name, name#2, …
bool is_numbered(std::string_view candidate, std::string_view name) {
  if (!candidate.starts_with(name)) return false;
  candidate.remove_prefix(name.size());
  return candidate.empty() ||
         (candidate.size() > 1 && candidate.front() == '#' &&
          candidate.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// In the order in which they began.
std::vector<std::string> numbered_sources(Store& store, const std::string& job,
                                          const std::string& name) {
  std::vector<std::string> names;
  for (const StoredSource& stored : store.sources(job))
    if (is_numbered(stored.source.name, name)) names.push_back(stored.source.name);
  std::ranges::sort(names, {}, [](const std::string& one) { return std::pair(one.size(), one); });
  return names;
}

bool begins_a_body(const Fingerprint& block, std::string_view beginning) {
  const std::uint64_t size = block.to_offset - block.from_offset;
  const auto compared = static_cast<std::size_t>(std::min<std::uint64_t>(size, kHeadBytes));
  return size > 0 && beginning.size() >= compared &&
         digest_of(beginning.substr(0, compared)) == block.head_digest;
}

bool holds_all_of(HeldBlocks blocks, std::string_view body) {
  ResendFilter filter(std::move(blocks));
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
  return !numbered_sources(store, job, name).empty();
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
  const std::vector<std::string> known = numbered_sources(store, job, name);
  const bool whole = is_known_as_a_whole(beginning);
  for (const std::string& candidate : known) {
    HeldBlocks held = held_blocks(store, job, candidate);
    const bool again = std::ranges::any_of(
        held.starts, [&](const HeldBlock& block) { return begins_a_body(block.print, beginning); });
    if (!again || (whole && !holds_all_of(std::move(held), beginning))) continue;
    if (auto lease = open.take_if_free(job, candidate, on_loss)) return lease;
  }
  if (!whole) {
    const Beginning told = read_beginning(beginning);
    // The latest first: a body most likely continues the source that came last.
    for (auto candidate = known.rbegin(); candidate != known.rend(); ++candidate) {
      const std::optional<SourceState> source = jobs.source_state(job, *candidate);
      if (!source || !goes_on(*source, told)) continue;
      if (auto lease = open.take_if_free(job, *candidate, on_loss)) return lease;
    }
  }
  return open.take_free(job, name, std::move(on_loss), known);
}

}  // namespace faultline
