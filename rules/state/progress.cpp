#include "rules/state/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/state/sources.h"
#include "rules/state/traffic.h"

namespace faultline {
namespace {

constexpr std::size_t kMostCopies = 16;
// Of one process, so many communicators are asked whose call has ended: more than any job has. If
// there are more, those that were left are asked no more.
constexpr std::size_t kMostAsked = 2048;
constexpr std::size_t kLongestHost = 64;  // the longest host name on Linux
constexpr std::uint32_t kNoSymbol = 0xffffffff;

// Whether two Init lines are about the same rank of the same communicator.
bool same_rank(const CommunicatorInit& a, const CommunicatorInit& b) {
  return a.rank == b.rank && a.nranks == b.nranks && a.communicator_id == b.communicator_id &&
         a.gpu == b.gpu;
}

bool tells_of_beginning(const Member& member, std::uint32_t source) {
  return std::ranges::find(member.init_sources, source) != member.init_sources.end();
}

// When a call was made; kUndated if its stamp is too coarse to show who came first.
std::uint32_t milliseconds_at(Member& member, const CallRun& run, const Call& call) {
  constexpr std::int64_t kFineUs = 1000;
  if (!run.first_time.wall_us || run.first_time.uncertainty_us > kFineUs)
    return RecentCall::kUndated;
  const std::int64_t begun_us = *run.first_time.wall_us;
  if (member.dated_from_s == 0 && begun_us >= 0)
    member.dated_from_s = static_cast<std::uint32_t>(begun_us / 1'000'000);
  const std::int64_t at =
      begun_us / 1000 - std::int64_t{member.dated_from_s} * 1000 + std::int64_t{call.after_ms};
  return at < 0 || at >= RecentCall::kUndated ? RecentCall::kUndated
                                              : static_cast<std::uint32_t>(at);
}

}  // namespace

std::size_t Progress::new_member(const MemberKey& key, std::uint32_t source, const Source& origin,
                                 const Speaker& speaker, int nranks) {
  std::size_t index = members_.size();
  Member& member = members_.emplace_back();
  member.process = key.process;
  member.host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  member.sender_host = short_host(origin.host);
  member.pid = speaker.pid;
  member.device = speaker.device;
  member.pointer = key.pointer;
  member.nranks = nranks;
  member.launcher_rank = speaker.rank >= 0 ? speaker.rank : origin.rank;
  member.source = member.calls_source = source;
  make_current(key, index);
  return index;
}

void Progress::make_current(const MemberKey& key, std::size_t index) {
  std::vector<std::size_t>& latest = latest_[key.process];
  const auto [known, is_new] = current_.try_emplace(key, index);
  if (!is_new) {
    const auto old = std::ranges::lower_bound(latest, known->second);
    if (old != latest.end() && *old == known->second) latest.erase(old);
    known->second = index;
  }
  if (latest.size() == kMostAsked) {
    const auto left = std::ranges::find_if(
        latest, [&](std::size_t member) { return members_[member].ending.has_value(); });
    latest.erase(left == latest.end() ? latest.begin() : left);
  }
  latest.push_back(index);
}

void Progress::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                     const Event& event) {
  if (const auto* init = std::get_if<CommunicatorInit>(&event.fact)) {
    begin(source, origin, batch, event, *init);
  } else if (const auto* end = std::get_if<CommunicatorEnd>(&event.fact)) {
    MemberKey key{process_of(origin, batch.speakers[event.speaker]), end->communicator};
    auto known = current_.find(key);
    if (known != current_.end()) members_[known->second].ending = end->ending;
  }
}

void Progress::begin(std::uint32_t source, const Source& origin, const Batch& batch,
                     const Event& event, const CommunicatorInit& init) {
  const Speaker& speaker = batch.speakers[event.speaker];
  MemberKey key{process_of(origin, speaker), init.communicator};
  auto known = current_.find(key);
  bool continues = false;
  if (known != current_.end()) {
    const Member& member = members_[known->second];
    bool same = member.init && same_rank(*member.init, init) && !member.ending;
    bool completes = same && init.complete && !member.complete;
    // The same line in a second file. If NCCL prints no id, only another file makes it likely.
    bool told_again = same && (!init.communicator_id.empty() || source != member.source);
    continues = completes || told_again;
  }
  std::size_t index =
      continues ? known->second : new_member(key, source, origin, speaker, init.nranks);
  Member& member = members_[index];
  if (!member.init) {
    member.init = init;
    member.from_start = true;
  }
  if (!member.init_line.known() || (init.complete && !member.complete))
    member.init_line = {source, event.line, event.offset, event.time, event.text};
  member.complete |= init.complete;
  if (std::ranges::find(member.init_sources, source) == member.init_sources.end() &&
      member.init_sources.size() < kMostCopies)
    member.init_sources.push_back(source);
}

// If a process wrote into the unfinished line of another, the end of that line sticks to the host
// name: "…channel 1node2". As a host of its own, it would make node2's rank lose a call.
Progress::Current::iterator Progress::written_into_another_line(const MemberKey& key) {
  const std::string& host = key.process.host;
  MemberKey whole = key;
  auto first = current_.end();
  for (std::size_t cut = host.size() > kLongestHost ? host.size() - kLongestHost : 1;
       cut < host.size(); ++cut) {
    whole.process.host = host.substr(cut);
    const auto known = current_.find(whole);
    if (known != current_.end() && (first == current_.end() || known->first < first->first))
      first = known;
  }
  return first;
}

// Versions of NCCL print the count of a Broadcast in floats or in bytes. Operations that only move
// data are the same call if they move the same number of bytes.
std::string Progress::key_of(const Signature& signature) {
  const auto bytes = signature.reduces() ? std::nullopt : bytes_of(message_of(signature));
  return bytes ? fmt::format("{} {} bytes {} {}", signature.function, *bytes, signature.operation,
                             signature.root)
               : fmt::format("{} {} {} {} {} {}", signature.function, signature.count,
                             signature.datatype, signature.operation, signature.root,
                             signature.count_is_size);
}

std::uint32_t Progress::symbol_of(const Signature& signature) {
  auto [known, is_new] =
      symbols_.try_emplace(key_of(signature), static_cast<std::uint32_t>(signatures_.size()));
  if (is_new) signatures_.push_back(signature);
  return known->second;
}

// Maps the batch's numbers of signatures to the job's. Calls without a place in the common sequence
// get none.
void Progress::enter(const Batch& batch) {
  batch_symbols_.clear();
  for (const Signature& signature : batch.signatures)
    batch_symbols_.push_back(signature.point_to_point() || signature.done ? kNoSymbol
                                                                          : symbol_of(signature));
}

Entered Progress::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                        const CallRun& run) {
  if (run.communicator == 0 && run.nranks == 0) {
    finish_calls(origin, batch, run);
    return {};
  }
  const Speaker& speaker = batch.speakers[run.speaker];
  MemberKey key{process_of(origin, speaker), run.communicator};
  auto known = current_.find(key);
  if (known == current_.end()) known = written_into_another_line(key);
  std::size_t index = known != current_.end() && members_[known->second].nranks == run.nranks
                          ? known->second
                          : new_member(key, source, origin, speaker, run.nranks);
  Member& member = members_[index];
  if (!member.first_op_count) member.calls_source = source;

  const Call* last = nullptr;
  Entered entered{.member = index};
  for (const Call& call : run.calls) {
    // A copy of a log repeats calls, so its op counts do not continue those of the first log. If op
    // counts do not move, a source that also has the Init line is a copy; one without it is the
    // next part of a rotated log.
    if (source != member.calls_source && call.op_count <= member.last_op_count &&
        (member.op_count_moves || tells_of_beginning(member, source))) {
      ++member.repeated_calls;
      continue;
    }
    member.calls_source = source;
    if (!member.first_op_count) {
      member.first_op_count = call.op_count;
      member.first_line = {source, batch.first_line + call.line, offset_of(batch, call),
                           run.first_time, std::string()};
    } else if (call.op_count > member.last_op_count) {
      member.skipped_op_counts += call.op_count - member.last_op_count - 1;
      member.op_count_moves = true;
    }
    member.last_op_count = call.op_count;
    ++member.calls;
    if (last == nullptr) entered.from = static_cast<std::size_t>(&call - run.calls.data());
    last = &call;
    std::uint32_t symbol = batch_symbols_[call.signature];
    if (symbol == kNoSymbol) {
      ++member.point_to_point;
      continue;
    }
    member.recent.push_back({call.op_count, batch.first_line + call.line, offset_of(batch, call),
                             symbol, milliseconds_at(member, run, call)});
    history_.advance(member.place, symbol);
  }
  if (last == nullptr) return entered;
  member.last_line = {source, batch.first_line + last->line, offset_of(batch, *last), run.last_time,
                      run.last_text};
  return entered;
}

void Progress::finish_calls(const Source& origin, const Batch& batch, const CallRun& run) {
  // A DONE line names no communicator: it belongs to the process's call with that op count.
  const auto latest = latest_.find(process_of(origin, batch.speakers[run.speaker]));
  if (latest == latest_.end()) return;
  for (const std::size_t index : latest->second) {
    Member& member = members_[index];
    for (const Call& call : run.calls)
      if (member.first_op_count && call.op_count >= *member.first_op_count &&
          call.op_count <= member.last_op_count)
        member.done_op_count = std::max(member.done_op_count.value_or(0), call.op_count);
  }
}

}  // namespace faultline
