#include "http/ingest_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http/ingest_problems.h"
#include "service/default_source.h"

namespace faultline {
namespace {

constexpr std::size_t kSmallSlice = std::size_t{4} << 10;
constexpr std::size_t kLargeSlice = std::size_t{64} << 10;

// Each file has a receipt in the answer, which is built in memory.
constexpr std::size_t kMaxFiles = 10000;

constexpr int kRetryAfterSeconds = 5;

}  // namespace

IngestStream::IngestStream(IngestParameters parameters, Services& services, LongReads& long_reads,
                           HeldBodies& held_bodies, std::function<void()> wake)
    : parameters_(std::move(parameters)),
      services_(services),
      long_reads_(long_reads),
      wake_(std::move(wake)),
      held_(held_bodies, wake_),
      tracker_(std::make_shared<CommitTracker>(wake_)) {
  if (parameters_.source_given)
    lease_ = services_.jobs.open_sources().take(parameters_.source.job, source(), wake_);
  if (parameters_.boundary) {
    several_ = true;
    multipart_.emplace(*parameters_.boundary, static_cast<PartVisitor&>(*this));
    return;
  }
  unpacker_.emplace(parameters_.source.name, parameters_.encoding,
                    static_cast<FileVisitor&>(*this));
  // Reports a gap before the body is sent, not after.
  if (parameters_.offset) open_file(parameters_.source.name);
}

IngestStream::~IngestStream() = default;

std::optional<Problem> IngestStream::obstacle() const {
  // Asked first: a commit beyond the limits of a job fails too, but sending it again would not
  // help.
  // Memory that lacks now is no reason to send again what is stored.
  if (auto problem = set_aside_problem(services_.jobs, parameters_.source.job))
    if (!complete_ || problem->refused != kLacksMemory) return problem;
  if (const std::exception_ptr failure = tracker_->failure()) return store_problem(failure);
  if (problem_) return problem_;
  if ((lease_ && lease_->lost()) || (file_ && file_->lease_lost())) return taken_over();
  if (!complete_ && held_.has_to_end()) return holds_too_much();
  if (auto problem = tells_too_much()) return problem;
  if (file_ && file_->says_nothing())
    return Problem{
        .status = 413,
        .detail = fmt::format("none of {} lines has a known form; the rest of the body is not read",
                              file_->receipt().lines)};
  return std::nullopt;
}

Problem IngestStream::holds_too_much() {
  return {.status = 503,
          .detail =
              "many bodies are held in memory until they are complete; whole lines received "
              "so far are kept, send the body again later",
          .retry_after_seconds = kRetryAfterSeconds,
          .refused = "held"};
}

void IngestStream::tell_held() {
  held_.hold(head_.size() + blocks_.held_bytes() + (file_ ? file_->held_bytes() : 0), steady_now());
}

bool IngestStream::may_hold_more() { return held_.may_grow(steady_now()); }

std::optional<Problem> IngestStream::tells_too_much() const {
  const std::uint64_t weight = weight_ + (file_ ? file_->weight() : 0);
  if (weight <= most_weight_of(fed_)) return std::nullopt;
  return faultline::tells_too_much(fed_, weight);
}

std::optional<Problem> IngestStream::takes_too_long() {
  constexpr std::string_view kKept = "whole lines received so far are kept";
  switch (turn_ ? turn_->next() : LongReads::Turn::May::go_on) {
    case LongReads::Turn::May::go_on:
      break;
    case LongReads::Turn::May::stop_for_others:
      return Problem{
          .status = 503,
          .detail = fmt::format("many bodies that unpack to very much are being read; {}, "
                                "send the body again later",
                                kKept),
          .retry_after_seconds = kRetryAfterSeconds,
          .refused = "unpacking"};
    case LongReads::Turn::May::stop_for_good:
      return Problem{
          .status = 503,
          .detail = fmt::format("the server is stopping; {}, send the body again", kKept),
          .retry_after_seconds = kRetryAfterSeconds};
  }
  return std::nullopt;
}

Problem IngestStream::taken_over() const {
  return {.status = 409,
          .detail = fmt::format("another connection is sending the source \"{}\" now; whole lines "
                                "received until then are kept",
                                printable_name(source())),
          .next_offset = next_offset()};
}

std::optional<std::uint64_t> IngestStream::next_offset() const {
  if (several_ || tracker_->failure()) return std::nullopt;
  return file_ ? std::optional{file_->next_offset()} : next_offset_;
}

std::size_t IngestStream::slice() const {
  return fed_ == 0 || produced_ > 2 * fed_ ? kSmallSlice : kLargeSlice;
}

std::optional<Problem> IngestStream::feed(std::string_view bytes) {
  if (auto problem = obstacle()) return problem;
  fed_ += bytes.size();
  turn_.emplace(long_reads_);
  keep(multipart_ ? multipart_->feed(bytes) : unpacker_->feed(bytes));
  turn_.reset();
  tell_held();
  return obstacle();
}

std::optional<Problem> IngestStream::finish() {
  complete_ = true;
  turn_.emplace(long_reads_);
  keep(multipart_ ? multipart_->finish() : unpacker_->finish());
  turn_.reset();
  if (!problem_ && !several_ && receipts_.empty()) {
    // An empty body names its source all the same, and may end it.
    open_file(source());
    end_file(true);
  }
  // The body is complete, so the source is free again, although the receipt is not sent yet.
  const auto problem = obstacle();
  lease_.reset();
  tell_held();
  return problem;
}

void IngestStream::abandon() {
  end_file(false);
  lease_.reset();
  head_ = {};
  tell_held();
}

void IngestStream::flush(bool for_long) {
  if (choosing_ && !head_.empty() && !is_known_as_a_whole(head_)) choose_source();
  if (file_) file_->flush(for_long);
}

// Keeps the first problem: that is the one to report.
void IngestStream::keep(const Result<void>& outcome) {
  if (!outcome && !problem_) problem_ = problem_from(outcome.error());
}

void IngestStream::open_file(const std::string& name) {
  if (problem_) return;
  const bool own = name == source();
  if (!own && parameters_.offset) {
    problem_ = Problem{.status = 400,
                       .detail =
                           "offset names a place in one file, but the body holds several; send it "
                           "without offset"};
    return;
  }
  if (file_) return;  // opened ahead, for its offset
  name_ = own ? name : names_.next(printable_name(name));
  if (receipts_.size() >= kMaxFiles) {
    problem_ = Problem{
        .status = 413,
        .detail = fmt::format("the body holds more than {} files; send fewer at once", kMaxFiles)};
    return;
  }
  OpenSources& open = services_.jobs.open_sources();
  const std::string& job = parameters_.source.job;
  try {
    if (own && lease_)
      start_file(lease_);
    else if (parameters_.source_given)
      start_file(open.take(job, name_, wake_));
    else if (parameters_.offset || !has_default_source(services_.store, job, name_))
      start_file(open.take_free(job, name_, wake_));
    else
      choosing_ = true;
  } catch (const StoreError&) {
    problem_ = store_problem(std::current_exception());
  }
  if (!file_ || file_->offset_fits()) return;
  next_offset_ = file_->next_offset();
  problem_ =
      Problem{.status = 409,
              .detail = fmt::format("offset {} leaves a gap: the server holds {} bytes of this "
                                    "source; send from there",
                                    *parameters_.offset, *next_offset_),
              .next_offset = next_offset_};
  file_.reset();
}

void IngestStream::start_file(std::shared_ptr<SourceLease> lease) {
  Source source = parameters_.source;
  source.name = lease->name();
  file_.emplace(std::move(source),
                BodyStart{.offset = parameters_.offset,
                          .is_read = parameters_.is_read,
                          .whatever_came_before = parameters_.whatever_came_before},
                services_.store, services_.jobs, tracker_, std::move(lease), parameters_.boot_time);
}

void IngestStream::choose_source() {
  choosing_ = false;
  try {
    start_file(lease_default_source(services_.jobs, services_.store, parameters_.source.job, name_,
                                    head_, wake_));
  } catch (const StoreError&) {
    problem_ = store_problem(std::current_exception());
    return;
  }
  file_->feed(head_);
  head_.clear();
}

void IngestStream::take_blocks(std::string_view piece) {
  if (!file_) return;
  const std::uint64_t most = most_weight_of(fed_);
  file_->limit_weight(most - std::min(weight_, most));
  keep_block(blocks_.feed(piece, [&](std::string_view block) { return file_->take_block(block); }));
}

// Returns whether all blocks were taken.
bool IngestStream::end_blocks(bool complete) {
  if (complete && !blocks_.at_end())
    keep_block(Error{Error::Kind::invalid_input, "the body breaks off within a block"});
  complete = complete && !problem_;
  keep_block(file_->end_blocks(complete));
  return complete && !problem_;
}

void IngestStream::keep_block(const Result<void>& outcome) {
  if (!outcome && !problem_) problem_ = block_problem(outcome.error(), file_->next_offset());
}

void IngestStream::end_file(bool complete) {
  if (std::exchange(choosing_, false) && complete) choose_source();
  const auto unreadable = std::exchange(unreadable_, std::nullopt);
  if (!file_) return;
  if (unreadable) file_->refuse(unreadable->bytes, unreadable->hint);
  // An archive holds whole files.
  if (parameters_.is_read) complete = end_blocks(complete);
  const bool archived = several_ && !multipart_ && name_ != source();
  file_->end(complete, complete && (parameters_.final || archived));
  if (file_->lease_lost() && !problem_) problem_ = taken_over();
  receipts_.push_back(file_->receipt());
  weight_ += file_->weight();
  next_offset_ = file_->next_offset();
  services_.metrics.count_duplicates(receipts_.back().duplicate_bytes);
  file_.reset();
}

void IngestStream::open(std::string_view name) {
  if (name != source()) several_ = true;
  open_file(std::string(name));
}

// One slice of a body may unpack to millions of lines, or to millions of bytes that nobody reads.
bool IngestStream::wants_more() {
  tell_held();
  if (!problem_) problem_ = takes_too_long();
  if (!problem_) problem_ = obstacle();
  return !problem_;
}

void IngestStream::bytes(std::string_view piece) {
  if (problem_) return;
  produced_ += piece.size();
  if (parameters_.is_read) return take_blocks(piece);
  if (file_) file_->feed(piece);
  if (!choosing_) return;
  head_ += piece;
  if (head_.size() >= (is_known_as_a_whole(head_) ? kMostHeldBytes : kBeginningBytes))
    choose_source();
}

// After a problem the file may not have been read to its end.
void IngestStream::close() { end_file(!problem_); }

void IngestStream::unreadable(std::uint64_t bytes, std::string_view hint) {
  unreadable_ = {bytes, std::string(hint)};
}

void IngestStream::open_part(std::string_view filename) {
  const std::string name = fmt::format("{}/{}", source(), filename);
  unpacker_.emplace(name, Encoding::detect, static_cast<FileVisitor&>(*this));
}

void IngestStream::part_bytes(std::string_view piece) {
  if (!problem_) keep(unpacker_->feed(piece));
}

void IngestStream::close_part() {
  if (!problem_) keep(unpacker_->finish());
  unpacker_.reset();
}

}  // namespace faultline
