#include "service/file_stream.h"

#include <algorithm>
#include <new>
#include <utility>

#include "model/event_weight.h"
#include "model/refusals.h"
#include "service/asked_lines.h"
#include "service/default_source.h"
#include "service/read_commit.h"

namespace faultline {
namespace {

// A body's first blocks are short, so that two files that only begin alike are told apart early;
// then they grow until a commit is worth its overhead.
constexpr std::size_t kFirstBlockBytes = std::size_t{4} << 10;
constexpr std::size_t kBlockGrowth = 4;
// A block ends early if its events weigh more than this; checked after every kFedAtOnce bytes.
constexpr std::uint64_t kMostWeightOfABlock = 8192;
constexpr std::size_t kFedAtOnce = std::size_t{64} << 10;

// Whether the batch says anything. Of a final body, even an empty batch is committed: it may end a
// source that another body filled.
bool worth_committing(const Batch& batch) {
  return batch.to_offset > batch.from_offset || batch.lines > 0 || batch.facts() > 0 ||
         batch.end != SourceEnd::open;
}

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

XXH3_state_t* new_state() {
  XXH3_state_t* state = XXH3_createState();
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state);
  return state;
}

void append_head(std::string& head, std::string_view bytes) {
  head.append(bytes.substr(0, kHeadBytes - std::min(kHeadBytes, head.size())));
}

}  // namespace

BlockDigest::BlockDigest() : all_(new_state()), lines_(new_state()), tail_(new_state()) {}

BlockDigest::~BlockDigest() {
  XXH3_freeState(all_);
  XXH3_freeState(lines_);
  XXH3_freeState(tail_);
}

void BlockDigest::add(std::string_view bytes) {
  append_head(head_, bytes);
  all_bytes_ += bytes.size();
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) {
    const std::string_view lines = bytes.substr(0, newline + 1);
    bytes.remove_prefix(newline + 1);
    XXH3_64bits_update(all_, lines.data(), lines.size());
    XXH3_copyState(lines_, all_);
    XXH3_64bits_reset(tail_);
    tail_bytes_ = 0;
    tail_head_.clear();
  }
  XXH3_64bits_update(all_, bytes.data(), bytes.size());
  XXH3_64bits_update(tail_, bytes.data(), bytes.size());
  tail_bytes_ += bytes.size();
  append_head(tail_head_, bytes);
}

void BlockDigest::cut(bool everything, Fingerprint& fingerprint) {
  const std::uint64_t bytes = everything ? all_bytes_ : whole_line_bytes();
  fingerprint.digest = XXH3_64bits_digest(everything ? all_ : lines_);
  fingerprint.head_digest = digest_of(std::string_view(head_).substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kHeadBytes))));
  if (everything) {
    XXH3_64bits_reset(tail_);
    tail_bytes_ = 0;
    tail_head_.clear();
  }
  XXH3_copyState(all_, tail_);
  XXH3_64bits_reset(lines_);
  all_bytes_ = tail_bytes_;
  head_ = tail_head_;
}

FileStream::FileStream(Source source, BodyStart start, Store& store, LiveJobs& jobs,
                       std::shared_ptr<CommitTracker> tracker, std::shared_ptr<SourceLease> lease,
                       std::optional<Timestamp> boot_time)
    : source_(std::move(source)),
      start_(start),
      boot_time_(boot_time),
      jobs_(jobs),
      tracker_(std::move(tracker)),
      lease_(std::move(lease)),
      block_target_(kFirstBlockBytes) {
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
  return position_.carry.size() + (reader_ ? reader_->held_bytes() : 0) +
         (filter_ ? filter_->held_bytes() : 0);
}

bool FileStream::pending() const { return block_.whole_line_bytes() > 0; }

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
// if it is what the last server wrote last.
std::size_t FileStream::pushed_before(std::string_view body) {
  if (const std::size_t lines = recent_->known_bytes(body); lines > 0) return lines;
  // Programs print the same line again.
  const bool is_one_line = body.find('\n') + 1 == body.size();
  if (!filter_ || is_one_line) return 0;
  filter_->feed(body);
  filter_->finish();
  const auto known = static_cast<std::size_t>(filter_->duplicate_bytes());
  const bool goes_on = recent_->is_of_earlier_server() && filter_->continues_source();
  return known == body.size() || goes_on ? known : 0;
}

void FileStream::refuse(std::uint64_t bytes, std::string_view hint) {
  receipt_.bytes += bytes;
  receipt_.hints.emplace_back(hint);
  unreadable_ = true;
}

void FileStream::open_reader() {
  if (filter_) starts_body_ = !filter_->continues_source();
  begin_reader();
  if (starts_body_ && position_.offset > 0 && !start_.appends) reader_->begin_file();
}

void FileStream::begin_reader() {
  reader_.emplace(Cursor{position_.offset, position_.lines, position_.carry}, utc_now(),
                  std::make_shared<const AskedLines>(jobs_.catalog()));
  if (tells_rest()) count(told_before_, reader_->rest());
  if (jobs_.keeps_lines()) reader_->keep_lines();
  if (boot_time_) reader_->set_boot_time(*boot_time_);
}

// A block ends with a line, and is cut when it has reached its target size. If its first line is
// longer than that, it is cut at the end of this line. See kMaxBlockBytes.
void FileStream::read(std::string_view bytes) {
  if (recent_) recent_->add(bytes);
  while (!bytes.empty() && !too_heavy()) {
    if (!reader_) open_reader();
    std::size_t length = std::min(bytes.size(), kFedAtOnce);
    if (block_.bytes() < block_target_)
      length = std::min(length, static_cast<std::size_t>(block_target_ - block_.bytes()));
    else
      length = std::min(length, bytes.find('\n') + 1);  // no newline: npos + 1 is 0, fixed below
    if (length == 0) length = std::min(bytes.size(), kFedAtOnce);
    const std::string_view piece = bytes.substr(0, length);
    bytes.remove_prefix(length);
    block_.add(piece);
    reader_->feed(piece);
    const bool is_full =
        block_.bytes() >= block_target_ || reader_->pending_weight() >= kMostWeightOfABlock;
    if (is_full && block_.whole_line_bytes() > 0) commit_block(false, false);
  }
}

void FileStream::flush(bool for_long) {
  if (filter_) read(filter_->settle(for_long));
  if (!pending()) return;
  reader_->settle();
  commit_block(false, false);
}

void FileStream::end(bool complete, bool final) {
  if (unreadable_) return;
  end_source(complete, final);
  add_hints(final);
}

void FileStream::end_source(bool complete, bool final) {
  if (complete && filter_) read(filter_->finish());
  if (filter_) receipt_.duplicate_bytes += filter_->duplicate_bytes();
  if (complete && (final || receipt_.duplicate_bytes < receipt_.bytes))
    jobs_.open_sources().body_ended(source_.job, source_.name, steady_now(),
                                    start_.offset.has_value() || start_.appends, final);
  // All bytes may have been held already, but not yet the end of the source.
  const bool nothing_to_end =
      position_.offset == 0 || jobs_.source_ended(source_.job, source_.name);
  if (!reader_ && !final && nothing_to_end) return;
  if (complete) {
    if (!reader_) begin_reader();
    if (final)
      reader_->close();
    else
      reader_->finish();
    commit_block(true, final);
    // Finding the rest may cost reading it. Hints need it only if nothing was recognized.
    if (tells_rest() || receipt_.recognized == 0) rest_ = reader_->rest();
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
  // A fingerprint covers exactly what its batch holds. Inside a dump or a trace the reader holds
  // bytes back until the end.
  const bool fits = reader_->pending_bytes() == block_.whole_line_bytes();
  if (!everything && !fits && block_.bytes() < kMostHeldBytes) return;
  Commit commit = take_commit(*reader_, source_, position_.carry);
  if (!final && !worth_committing(commit.batch)) return;
  commit.fingerprint.from_offset = commit.batch.from_offset;
  commit.fingerprint.to_offset = commit.batch.to_offset;
  commit.fingerprint.starts_body = std::exchange(starts_body_, false);
  block_.cut(everything, commit.fingerprint);
  if (recent_) commit.position.recent = recent_->saved(commit.position.offset);
  commit.complete = final;
  commit.received = utc_now();
  count(receipt_, commit.batch);
  std::uint64_t weight = 0;
  for (const Event& event : commit.batch.events) weight += weight_of(event);
  weight_ += weight;
  block_target_ = std::min(block_target_ * kBlockGrowth, kMaxBlockBytes);

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
