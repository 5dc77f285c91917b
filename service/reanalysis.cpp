#include "service/reanalysis.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "ingest/reread.h"
#include "model/batch_merge.h"

namespace faultline {
namespace {

// Changed batches are stored when they take so many bytes.
constexpr std::size_t kMostAtOnce = std::size_t{32} << 20;

const Speaker& speaker_of(const Event& event, const Batch& batch) {
  static const Speaker kNobody;
  return event.speaker < batch.speakers.size() ? batch.speakers[event.speaker] : kNobody;
}

// Compares events by value: their speakers too, wherever these stand in the batches.
bool is_same(const Event& event, const Batch& batch, const Event& other, const Batch& others) {
  return event.line == other.line && event.offset == other.offset && event.time == other.time &&
         event.text == other.text && event.fact == other.fact &&
         speaker_of(event, batch) == speaker_of(other, others);
}

void move_events(Batch& from, Batch& to) {
  SpeakersOf speakers(to);
  for (Event& event : from.events) {
    event.speaker = speakers.index_of(speaker_of(event, from));
    to.events.push_back(std::move(event));
  }
  from.events.clear();
}

std::int64_t count_reports(const std::vector<Event>& events) {
  return std::ranges::count_if(
      events, [](const Event& event) { return std::holds_alternative<PartReport>(event.fact); });
}

// Reports are dropped when no answer needs them, and come back here. The source has counted them
// already. So no more of them count than there are lines that were not recognized before: rather
// too few than the same ones again and again.
std::int64_t more_facts(const Batch& old, const Batch& batch, std::int64_t more_recognized) {
  const std::int64_t more = std::ssize(batch.events) - std::ssize(old.events);
  const std::int64_t reports = count_reports(batch.events) - count_reports(old.events);
  return more - reports + std::min(reports, std::max<std::int64_t>(0, more_recognized));
}

// Gives runs and events the order of their lines.
void put_in_order(Batch& batch) {
  std::uint32_t order = 0;
  auto run = batch.runs.begin();
  const auto begins_before = [&](const CallRun& one, std::uint64_t offset) {
    return one.calls.empty() || offset_of(batch, one.calls.front()) <= offset;
  };
  for (Event& event : batch.events) {
    for (; run != batch.runs.end() && begins_before(*run, event.offset); ++run)
      run->order = order++;
    event.order = order++;
  }
  for (; run != batch.runs.end(); ++run) run->order = order++;
}

class SourceReanalysis {
 public:
  SourceReanalysis(const std::shared_ptr<const Noteworthy>& noteworthy, ReanalysisTold& told)
      : rereader_(noteworthy), told_(told) {}

  void read(const KeptLines& kept) {
    const Rereader::Stretch stretch{
        .from_offset = kept.from_offset,
        .to_offset = kept.to_offset,
        .lines_before = kept.lines_before,
        .before = kept.follows ? Rereader::Before::calls : Rereader::Before::unknown,
        .received = kept.received};
    auto read = rereader_.read(stretch, kept.content);
    if (!read) {
      ++told_.damaged;
      has_counts_ = false;
      return;
    }
    told_.lines += read->batch.lines;
    told_.bytes += kept.to_offset - kept.from_offset;
    has_counts_ = has_counts_ && read->is_exact;
    covered_bytes_ += kept.to_offset - kept.from_offset;
    add_counts(fresh_, read->batch);
    move_events(read->batch, fresh_);
  }

  // The batch with its new events; nothing if that changes nothing.
  std::optional<ChangedBatch> changed(const StoredBatch& stored) {
    const Batch& old = stored.batch;
    ChangedBatch changed{.number = stored.number, .batch = old};
    Batch& batch = changed.batch;
    Batch fresh = std::exchange(fresh_, {});
    const std::uint64_t covered = std::exchange(covered_bytes_, 0);
    const bool has_counts = std::exchange(has_counts_, true);
    if (old.left_out > 0) return std::nullopt;  // its lines would bring all events back
    if (has_counts && covered == old.to_offset - old.from_offset) {
      batch.recognized = batch.skipped = 0;
      batch.dialects.clear();
      batch.subsystems.clear();
      add_counts(batch, fresh);
    }
    batch.events.clear();
    std::vector<Event> fresh_events = std::exchange(fresh.events, {});
    auto next = fresh_events.begin();
    SpeakersOf speakers(batch);
    const auto add_fresh = [&] {
      Event event = std::move(*next++);
      event.speaker = speakers.index_of(speaker_of(event, fresh));
      batch.events.push_back(std::move(event));
    };
    std::unordered_set<std::uint64_t> told_anew;
    for (const Event& event : fresh_events) told_anew.insert(event.offset);
    for (const Event& event : old.events) {
      const Rereader::Covered covered = rereader_.covered(event.offset);
      if (covered == Rereader::Covered::exactly ||
          (covered == Rereader::Covered::loosely && told_anew.contains(event.offset)))
        continue;
      while (next != fresh_events.end() && next->offset < event.offset) add_fresh();
      batch.events.push_back(event);
    }
    while (next != fresh_events.end()) add_fresh();
    if (!count_changes(old, batch) && batch.recognized == old.recognized &&
        batch.dialects == old.dialects && batch.subsystems == old.subsystems)
      return std::nullopt;
    put_in_order(batch);
    changed.more_recognized =
        static_cast<std::int64_t>(batch.recognized) - static_cast<std::int64_t>(old.recognized);
    changed.more_facts = more_facts(old, batch, changed.more_recognized);
    return changed;
  }

 private:
  // Returns whether there are any changes.
  bool count_changes(const Batch& old, const Batch& batch) {
    std::unordered_multimap<std::uint64_t, const Event*> left;
    for (const Event& event : old.events) left.emplace(event.offset, &event);
    std::uint64_t fresh = 0;
    for (const Event& event : batch.events) {
      auto [at, end] = left.equal_range(event.offset);
      while (at != end && !is_same(event, batch, *at->second, old)) ++at;
      if (at == end)
        ++fresh;
      else
        left.erase(at);
    }
    told_.events_new += fresh;
    told_.events_gone += left.size();
    return fresh > 0 || !left.empty();
  }

  Rereader rereader_;
  ReanalysisTold& told_;
  Batch fresh_;  // of the lines since the last batch: events and counts
  bool has_counts_ = true;
  std::uint64_t covered_bytes_ = 0;
};

std::size_t size_of(const Batch& batch) {
  std::size_t bytes = sizeof(Batch);
  for (const Event& event : batch.events) bytes += sizeof(Event) + event.text.size();
  for (const CallRun& run : batch.runs) bytes += sizeof(CallRun) + run.calls.size() * sizeof(Call);
  return bytes;
}

}  // namespace

ReanalysisTold reanalyze(Store& store, const std::string& job,
                         const std::shared_ptr<const Noteworthy>& noteworthy,
                         const std::function<bool()>& wanted) {
  ReanalysisTold told;
  std::vector<ChangedBatch> changed;
  std::size_t bytes = 0;
  const auto put = [&] {
    store.replace_batches(std::exchange(changed, {}), wanted);
    bytes = 0;
  };
  for (const StoredSource& source : store.sources(job)) {
    if (!wanted()) break;
    SourceReanalysis reanalysis(noteworthy, told);
    const std::uint64_t lines_before = told.lines;
    told.damaged += store.walk_kept_lines(
        job, source.source.name, [&](const KeptLines& kept) { reanalysis.read(kept); },
        [&](const StoredBatch& stored) {
          std::optional<ChangedBatch> one = reanalysis.changed(stored);
          if (!one) return;
          bytes += size_of(one->batch);
          changed.push_back(*std::move(one));
          if (bytes >= kMostAtOnce) put();
        });
    if (told.lines > lines_before) ++told.sources;
  }
  if (!changed.empty()) put();
  return told;
}

}  // namespace faultline
