#define XXH_INLINE_ALL
#include "ingest/repeat_filter.h"

#include <xxhash.h>

#include <string_view>
#include <utility>

namespace faultline {
namespace {

// Builds one hash of several values; each is kept apart from the next.
class Hash {
 public:
  Hash& operator<<(std::string_view text) {
    value_ = XXH3_64bits_withSeed(text.data(), text.size(), value_);
    return *this;
  }
  Hash& operator<<(std::int64_t number) {
    value_ = XXH3_64bits_withSeed(&number, sizeof number, value_);
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

bool same_but_for_channels(const PeerConnection& a, const PeerConnection& b) {
  return a.from == b.from && a.to == b.to && a.device == b.device && a.gdr == b.gdr &&
         a.shared == b.shared && a.proxy_rank == b.proxy_rank && a.thread == b.thread &&
         a.transport == b.transport && a.direction == b.direction;
}

constexpr std::uint32_t kKeptOfAStorm = 64;  // lines of a batch

// The event keeps its place in the order.
template <class Kind>
void put_in_place_of(Event& event, const EventTime& time, const LinePlace& line, Kind&& fact) {
  event.time = time;
  event.line = line.number;
  event.offset = line.offset;
  event.text = evidence_text(line.text);
  event.fact = std::forward<Kind>(fact);
}

std::uint32_t next_event(const Batch& batch) {
  return static_cast<std::uint32_t>(batch.events.size());
}

}  // namespace

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const EventTime& time,
                            const LinePlace& line, Fact& fact) {
  if (const auto* connection = std::get_if<PeerConnection>(&fact))
    return swallows(batch, speaker, *connection);
  if (const auto* setting = std::get_if<Setting>(&fact))
    return swallows(batch.speakers[speaker], *setting);
  // The Inspector reports each completed operation, and only the last one counts. ncclras reports
  // each rank once, in an order that matters.
  if (auto* report = std::get_if<RankReport>(&fact); report && report->tool == "inspector")
    return swallows(batch, speaker, time, line, *report);
  if (auto* xid = std::get_if<GpuXid>(&fact)) return swallows(batch, speaker, time, line, *xid);
  if (auto* exception = std::get_if<PythonException>(&fact))
    return swallows(batch, speaker, time, line, *exception);
  if (auto* remark = std::get_if<Remark>(&fact))
    return swallows(batch, speaker, time, line, *remark);
  if (const auto* init = std::get_if<CommunicatorInit>(&fact))
    ++communicators_of(speaker, init->thread);
  return false;
}

bool RepeatFilter::swallows(const Speaker& speaker, const Setting& setting) {
  Hash hash;
  hash << speaker.host << speaker.pid << speaker.rank << setting.group << setting.name
       << setting.value;
  if (settings_.size() >= kMostSettings) settings_.clear();
  return !settings_.insert(hash.value()).second;
}

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const PeerConnection& connection) {
  // As few steps as possible: start-up logs consist of these lines.
  const std::int64_t numbers[] = {connection.from,
                                  connection.to,
                                  connection.device,
                                  connection.gdr,
                                  connection.shared,
                                  connection.proxy_rank.value_or(-1),
                                  connection.thread,
                                  static_cast<std::int64_t>(connection.direction.size()),
                                  static_cast<std::int64_t>(speaker),
                                  communicators_of(speaker, connection.thread)};
  Hash hash;
  hash << connection.transport
       << std::string_view(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const std::uint32_t fresh = next_event(batch);
  const std::uint32_t index =
      connections_.find_or_insert(hash.value(), fresh, [&](std::uint32_t known) {
        const auto* other = std::get_if<PeerConnection>(&batch.events[known].fact);
        return other != nullptr && batch.events[known].speaker == speaker &&
               same_but_for_channels(*other, connection);
      });
  if (index == fresh) return false;
  ++std::get<PeerConnection>(batch.events[index].fact).channels;
  return true;
}

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const EventTime& time,
                            const LinePlace& line, RankReport& report) {
  Hash hash;
  hash << report.tool << report.communicator_id << report.rank << report.operation;
  const std::uint32_t fresh = next_event(batch);
  const std::uint32_t index =
      reports_.find_or_insert(hash.value(), fresh, [&](std::uint32_t known) {
        const auto* other = std::get_if<RankReport>(&batch.events[known].fact);
        return other != nullptr && other->tool == report.tool &&
               other->communicator_id == report.communicator_id && other->rank == report.rank &&
               other->operation == report.operation;
      });
  if (index == fresh) return false;
  batch.events[index].speaker = speaker;
  put_in_place_of(batch.events[index], time, line, std::move(report));
  return true;
}

template <class Same>
std::optional<std::uint32_t> RepeatFilter::last_of_storm(const Batch& batch, std::uint32_t speaker,
                                                         std::uint64_t hash, Same same) {
  const auto fresh = static_cast<std::uint32_t>(storms_.size());
  const std::uint32_t index = storm_table_.find_or_insert(hash, fresh, [&](std::uint32_t known) {
    const Event& event = batch.events[storms_[known].last];
    return event.speaker == speaker && same(event.fact);
  });
  if (index == fresh) storms_.emplace_back();
  Storm& storm = storms_[index];
  if (storm.kept == kKeptOfAStorm) return storm.last;
  ++storm.kept;
  storm.last = next_event(batch);
  return std::nullopt;
}

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const EventTime& time,
                            const LinePlace& line, GpuXid& xid) {
  // Which channel is torn down does not matter; otherwise only the same words say the same.
  constexpr int kTeardown = 45;
  Hash hash;
  hash << xid.gpu << xid.code << xid.caused_by.value_or(-1) << xid.pid.value_or(-1) << xid.process
       << static_cast<std::int64_t>(xid.xid_line) << static_cast<std::int64_t>(speaker)
       << std::string_view(xid.code == kTeardown ? std::string_view() : xid.detail);
  const auto last = last_of_storm(batch, speaker, hash.value(), [&](const Fact& fact) {
    const auto* other = std::get_if<GpuXid>(&fact);
    return other != nullptr && other->gpu == xid.gpu && other->code == xid.code &&
           other->pid == xid.pid && other->process == xid.process &&
           other->caused_by == xid.caused_by && other->xid_line == xid.xid_line &&
           (xid.code == kTeardown || other->detail == xid.detail);
  });
  if (!last) return false;
  Event& event = batch.events[*last];
  xid.repeated += std::get<GpuXid>(event.fact).repeated;
  put_in_place_of(event, time, line, std::move(xid));
  return true;
}

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const EventTime& time,
                            const LinePlace& line, PythonException& exception) {
  Hash hash;
  hash << exception.type << exception.message << exception.file << exception.file_line
       << static_cast<std::int64_t>(speaker);
  const auto last = last_of_storm(batch, speaker, hash.value(), [&](const Fact& fact) {
    const auto* other = std::get_if<PythonException>(&fact);
    return other != nullptr && other->type == exception.type &&
           other->message == exception.message && other->file == exception.file &&
           other->file_line == exception.file_line && other->function == exception.function &&
           other->follows == exception.follows && other->original == exception.original;
  });
  if (last) put_in_place_of(batch.events[*last], time, line, std::move(exception));
  return last.has_value();
}

bool RepeatFilter::swallows(Batch& batch, std::uint32_t speaker, const EventTime& time,
                            const LinePlace& line, Remark& remark) {
  if (remark.dialect != "torch") return false;
  Hash hash;
  hash << remark.text << remark.place << static_cast<std::int64_t>(speaker);
  const auto last = last_of_storm(batch, speaker, hash.value(), [&](const Fact& fact) {
    const auto* other = std::get_if<Remark>(&fact);
    return other != nullptr && *other == remark;
  });
  if (last) put_in_place_of(batch.events[*last], time, line, std::move(remark));
  return last.has_value();
}

std::uint32_t& RepeatFilter::communicators_of(std::uint32_t speaker, std::int64_t thread) {
  const auto same = [&](std::uint32_t index) {
    return threads_[index].speaker == speaker && threads_[index].thread == thread;
  };
  if (last_thread_ < threads_.size() && same(last_thread_))
    return threads_[last_thread_].communicators;
  Hash hash;
  hash << static_cast<std::int64_t>(speaker) << thread;
  const auto fresh = static_cast<std::uint32_t>(threads_.size());
  last_thread_ = thread_table_.find_or_insert(hash.value(), fresh, same);
  if (last_thread_ == fresh) threads_.push_back({speaker, thread, 0});
  return threads_[last_thread_].communicators;
}

void RepeatFilter::reset() {
  connections_.clear();
  reports_.clear();
  storm_table_.clear();
  storms_.clear();
  thread_table_.clear();
  threads_.clear();
}

}  // namespace faultline
