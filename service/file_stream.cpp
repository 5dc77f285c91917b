#include "service/file_stream.h"

#include <algorithm>
#include <utility>

#include "ingest/block_bytes.h"
#include "ingest/block_check.h"
#include "model/event_weight.h"
#include "model/refusals.h"
#include "service/asked_lines.h"
#include "service/default_source.h"
#include "service/read_commit.h"

namespace faultline {
namespace {

void count(FileReceipt& receipt, const Batch& batch) {
  receipt.lines += batch.lines;
  receipt.recognized += batch.recognized;
  receipt.skipped += batch.skipped;
  receipt.facts += batch.facts();
  for (const auto& [dialect, lines] : batch.dialects) receipt.dialects[dialect] += lines;
  constexpr std::size_t kMostRefusals = 8;
  for (std::string& why : refusals_in(batch))
    if (receipt.refused.size() < kMostRefusals) receipt.refused.push_back(std::move(why));
}

std::uint64_t weight_of(const std::vector<Event>& events) {
  std::uint64_t weight = 0;
  for (const Event& event : events) weight += weight_of(event);
  return weight;
}

void take_off(std::uint64_t& count, std::uint64_t told) { count -= std::min(count, told); }

void uncount(FileReceipt& receipt, const FileReceipt& told) {
  take_off(receipt.lines, told.lines);
  take_off(receipt.recognized, told.recognized);
  take_off(receipt.skipped, told.skipped);
  take_off(receipt.facts, told.facts);
  for (const auto& [dialect, lines] : told.dialects) {
    const auto counted = receipt.dialects.find(dialect);
    if (counted == receipt.dialects.end()) continue;
    take_off(counted->second, lines);
    if (counted->second == 0) receipt.dialects.erase(counted);
  }
}

}  // namespace

FileStream::FileStream(Source source, BodyStart start, Store& store, LiveJobs& jobs,
                       std::shared_ptr<CommitTracker> tracker, std::shared_ptr<SourceLease> lease,
                       std::optional<Timestamp> boot_time)
    : source_(std::move(source)),
      start_(start),
      boot_time_(boot_time),
      jobs_(jobs),
      tracker_(std::move(tracker)),
      lease_(std::move(lease)) {
  receipt_.source = source_.name;
  const std::optional<StoredSource> known = jobs.settled_source(source_.job, source_.name);
  if (known) {
    position_ = known->position;
    known_before_ = known->recognized > 0;
    if (source_.host.empty()) source_.host = known->source.host;
    if (source_.rank < 0) source_.rank = known->source.rank;
  }
  if (start_.appends) {
    recent_.emplace(static_cast<std::uint64_t>(jobs.begun().time_since_epoch().count()),
                    position_.recent);
    recent_->begin_body(position_.offset);
    push_.emplace(jobs.unanswered_pushes().begin(source_.job, source_.name, position_.offset));
  }
  if (start_.offset) {
    skip_ = position_.offset - std::min(position_.offset, *start_.offset);
    starts_body_ = position_.offset == 0;
    if (*start_.offset == 0 && position_.offset > 0)
      receipt_.last_block = store.last_block(source_.job, source_.name);
  } else if (position_.offset > 0) {
    filter_.emplace(
        held_blocks(store, source_.job, source_.name, start_.appends ? kComparedBodies : SIZE_MAX));
  }
}

std::size_t FileStream::held_bytes() const {
  return position_.carry.size() + (blocks_ ? blocks_->reader().held_bytes() : 0) +
         (filter_ ? filter_->held_bytes() : 0);
}

bool FileStream::pending() const { return blocks_ && blocks_->pending(); }

bool FileStream::says_nothing() const {
  constexpr std::uint64_t kMostLines = 20'000'000;
  return receipt_.recognized == 0 && !known_before_ && receipt_.lines >= kMostLines;
}

FileReceipt FileStream::receipt() const {
  FileReceipt receipt = receipt_;
  receipt.next_offset = position_.offset;
  if (!tells_rest()) return receipt;
  count(receipt, rest_);
  uncount(receipt, told_before_);
  return receipt;
}

void FileStream::feed(std::string_view bytes) {
  lease_->touch(steady_now());
  receipt_.bytes += bytes.size();
  look_.feed(bytes);
  const auto held = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
  skip_ -= held;
  receipt_.duplicate_bytes += held;
  bytes.remove_prefix(held);
  if (recent_) {
    const std::size_t known = pushed_before(bytes);
    receipt_.duplicate_bytes += known;
    bytes.remove_prefix(known);
    filter_.reset();
  }
  if (filter_ && receipt_.bytes == bytes.size() && is_known_as_a_whole(bytes))
    filter_->expect_whole_bodies();
  if (filter_ && !filter_->passes_all()) bytes = filter_->feed(bytes);
  read(bytes);
}

// How much of a body that was pushed is held. Bodies may begin alike, so a part of one is held only
// if it is what was stored last, and no sender was told so.
std::size_t FileStream::pushed_before(std::string_view body) {
  if (const std::size_t lines = recent_->known_bytes(body); lines > 0) return lines;
  const bool was_refused = push_->follows_a_part();
  // Programs print the same line again.
  const bool is_one_line = body.find('\n') + 1 == body.size();
  if (!filter_ || (is_one_line && !was_refused)) return 0;
  filter_->feed(body);
  filter_->finish();
  const auto known = static_cast<std::size_t>(filter_->duplicate_bytes());
  const bool goes_on =
      (was_refused || recent_->is_of_earlier_server()) && filter_->continues_source();
  const bool is_held = known == body.size() && !is_one_line;
  return is_held || goes_on ? known : 0;
}

Result<void> FileStream::take_block(std::string_view block) {
  lease_->touch(steady_now());
  const Result<void> committed = commit_held_block(true);
  if (committed) held_block_ = block;
  return committed;
}

Result<void> FileStream::end_blocks(bool complete) { return commit_held_block(!complete); }

// Nothing in the block but what it says of its lines is believed: the source, its place in it and
// the time are ours.
Result<void> FileStream::commit_held_block(bool more_follows) {
  if (!held_block_) return {};
  Result<SentBlock> sent = read_block(*held_block_);
  held_block_.reset();
  if (!sent) return sent.error();
  ReadBlock& block = sent->block;
  const std::uint64_t bytes = block.batch.to_offset;
  receipt_.bytes += bytes;
  const std::uint64_t held = std::min(skip_, bytes);
  skip_ -= held;
  receipt_.duplicate_bytes += held;
  if (held == bytes) return {};
  const bool follows =
      held == 0 && sent->begins_at == mark_of_state(position_.lines, position_.carry);
  if (!follows && !start_.whatever_came_before)
    return Error{Error::Kind::conflict,
                 "the block was read behind other lines than the server holds; read the log again "
                 "from next_offset"};
  move_block(block, position_.offset - held, position_.lines);
  if (!is_within_its_source(block))
    return Error{Error::Kind::invalid_input, "the block tells of lines before its source"};
  if (!follows) leave_out_before(block, position_.offset);
  if (more_follows) block.batch.end = SourceEnd::open;
  if (!jobs_.keeps_lines()) block.keeps_lines = false;
  if (!block.keeps_lines) block.kept_lines.clear();
  if (weight_ + weight_of(block.batch.events) > most_weight_)
    return Error{Error::Kind::too_large, "the block tells of more than so few bytes may"};
  told_end_ = !more_follows;
  commit(std::move(block), false);
  return {};
}

void FileStream::refuse(std::uint64_t bytes, std::string_view hint) {
  receipt_.bytes += bytes;
  receipt_.hints.emplace_back(hint);
  unreadable_ = true;
}

void FileStream::open_reader() {
  if (filter_) starts_body_ = !filter_->continues_source();
  begin_reader();
  if (starts_body_ && position_.offset > 0 && !start_.appends) blocks_->reader().begin_file();
}

void FileStream::begin_reader() {
  const Cursor cursor{position_.offset, position_.lines, position_.carry};
  blocks_.emplace(cursor, utc_now(), std::make_shared<const AskedLines>(jobs_.catalog()));
  Reader& reader = blocks_->reader();
  if (tells_rest()) count(told_before_, reader.rest());
  if (jobs_.keeps_lines()) reader.keep_lines();
  if (boot_time_) reader.set_boot_time(*boot_time_);
}

void FileStream::read(std::string_view bytes) {
  if (recent_) recent_->add(bytes);
  while (!bytes.empty() && !too_heavy()) {
    if (!blocks_) open_reader();
    bytes.remove_prefix(blocks_->feed(bytes));
    if (blocks_->is_full()) commit_block(false, false);
  }
}

void FileStream::flush(bool for_long) {
  if (filter_) read(filter_->settle(for_long));
  if (!pending()) return;
  blocks_->reader().settle();
  commit_block(false, false);
}

void FileStream::end(bool complete, bool final) {
  if (unreadable_) return;
  end_source(complete, final);
  if (!start_.is_read) add_hints(final);  // they are about bytes
}

void FileStream::end_source(bool complete, bool final) {
  if (complete && filter_) read(filter_->finish());
  if (filter_) receipt_.duplicate_bytes += filter_->duplicate_bytes();
  if (complete && (final || receipt_.duplicate_bytes < receipt_.bytes))
    jobs_.open_sources().body_ended(source_.job, source_.name, steady_now(),
                                    start_.offset.has_value() || start_.appends, final);
  if (told_end_ && !final) return;
  // All bytes may have been held already, but not yet the end of the source.
  const bool nothing_to_end =
      position_.offset == 0 || jobs_.source_ended(source_.job, source_.name);
  if (!blocks_ && !final && nothing_to_end) return;
  if (complete) {
    if (!blocks_) begin_reader();
    if (final)
      blocks_->reader().close();
    else
      blocks_->reader().finish();
    commit_block(true, final);
    // Finding the rest may cost reading it. Hints need it only if nothing was recognized.
    if (tells_rest() || receipt_.recognized == 0) rest_ = blocks_->reader().rest();
  } else if (pending()) {
    commit_block(false, false);
  }
}

void FileStream::add_hints(bool final) {
  FileReceipt all = receipt_;
  count(all, rest_);
  const BodyCounts counts{.lines = all.lines,
                          .recognized = all.recognized,
                          .skipped = all.skipped,
                          .refused = !all.refused.empty(),
                          .may_be_empty = final || position_.offset > 0};
  for (Hint& hint : look_.hints(counts))
    if (hint.certain || !known_before_) receipt_.hints.push_back(std::move(hint.text));
}

void FileStream::commit_block(bool everything, bool final) {
  if (std::optional<ReadBlock> block = blocks_->take(everything, final))
    commit(std::move(*block), final);
}

void FileStream::commit(ReadBlock block, bool final) {
  Commit commit = commit_of(std::move(block), source_);
  commit.fingerprint.starts_body = std::exchange(starts_body_, false);
  if (recent_) commit.position.recent = recent_->saved(commit.position.offset);
  commit.complete = final;
  commit.received = utc_now();
  count(receipt_, commit.batch);
  const std::uint64_t weight = weight_of(commit.batch.events);
  weight_ += weight;

  const SourcePosition after = commit.position;
  tracker_->wait_for_room();
  lease_->write([&] {
    tracker_->begin(weight);
    const std::shared_ptr<CommitTracker> tracker = tracker_;
    jobs_.commit(std::move(commit),
                 [tracker, weight](std::exception_ptr failure) { tracker->end(weight, failure); });
    position_ = after;
  });
}

}  // namespace faultline
