#include "rules/state/flight.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "model/ranks.h"

namespace faultline {
namespace {

// Limits, because a hostile dump could hold any number.
constexpr std::size_t kMostDumps = std::size_t{1} << 16;
constexpr std::size_t kMostGroups = std::size_t{1} << 16;
constexpr std::size_t kMostNameless = 1024;
constexpr std::size_t kMostEntries = 20'000;  // of one group of one rank
constexpr std::size_t kMostSymbols = std::size_t{1} << 20;
constexpr std::size_t kMostStacks = std::size_t{1} << 14;

// Columns hold differences. They are added as unsigned numbers, because those of a hostile dump may
// overflow.
class Sum {
 public:
  explicit Sum(const std::vector<std::int64_t>& column) : column_(column) {}
  std::int64_t next() {
    if (at_ < column_.size()) sum_ += static_cast<std::uint64_t>(column_[at_++]);
    return static_cast<std::int64_t>(sum_);
  }

 private:
  const std::vector<std::int64_t>& column_;
  std::size_t at_ = 0;
  std::uint64_t sum_ = 0;
};

std::uint32_t clamped(std::int64_t number) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(number, 0, std::numeric_limits<std::uint32_t>::max()));
}

FlightProgress progress_of(char state) {
  switch (state) {
    case 's':
    case 'S':
      return FlightProgress::scheduled;
    case 'r':
    case 'R':
      return FlightProgress::started;
    case 'c':
    case 'C':
      return FlightProgress::completed;
    default:
      return FlightProgress::unknown;
  }
}

// Before PyTorch 2.0, only the name shows it.
bool is_point_to_point(const FlightSignature& signature) {
  return signature.point_to_point || signature.operation.find(":send ") != std::string::npos ||
         signature.operation.find(":recv ") != std::string::npos ||
         signature.operation.ends_with(":recvAnySource");
}

// The member that recorded "nccl:send 1->2": the first number is its own rank in the group.
std::optional<std::size_t> own_place(std::string_view operation) {
  for (const std::string_view word : {":send ", ":recv "}) {
    const std::size_t at = operation.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = operation.substr(at + word.size());
    std::size_t place = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), place);
    const std::string_view arrow(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
    if (error == std::errc() && (arrow.starts_with("->") || arrow.starts_with("<-"))) return place;
  }
  return std::nullopt;
}

// The members of a batch have no progress of their own; the entry that closes the batch has it.
class Batches {
 public:
  Batches(std::vector<FlightEntry>& entries, const std::vector<std::int64_t>& collective,
          const std::vector<std::int64_t>& p2p)
      : entries_(entries), collective_(collective), p2p_(p2p) {}

  void resolve(std::size_t place, bool closes) {
    if (closes) {
      close(place);
      begin_ = place + 1;
      return;
    }
    // Consecutive members of a batch have the same number.
    if (begin_ < place && !alike(place - 1, place)) begin_ = place;
    if (begin_ < place) entries_[place - 1].role = entries_[place].role = FlightRole::batched;
  }

 private:
  bool alike(std::size_t a, std::size_t b) const {
    if (entries_[a].point_to_point != entries_[b].point_to_point) return false;
    return entries_[a].point_to_point ? p2p_[a] == p2p_[b] : collective_[a] == collective_[b];
  }

  void close(std::size_t place) {
    const bool of_p2p =
        begin_ < place && entries_[begin_].point_to_point && p2p_[begin_] == p2p_[place];
    const bool of_collectives = begin_ < place && !entries_[begin_].point_to_point &&
                                collective_[begin_] == collective_[place];
    // Its members may have left the ring. Then its number in the other count shows the kind.
    if (of_p2p || (!of_collectives && p2p_[place] > 0)) {
      entries_[place].role = FlightRole::batch_end;
      entries_[place].sequence = clamped(p2p_[place]);
    }
    if (!of_p2p && !of_collectives) return;
    for (std::size_t i = begin_; i < place; ++i) {
      entries_[i].role = FlightRole::batched;
      entries_[i].progress = entries_[place].progress;
      entries_[i].retired = entries_[place].retired;
    }
  }

  std::vector<FlightEntry>& entries_;
  const std::vector<std::int64_t>& collective_;
  const std::vector<std::int64_t>& p2p_;
  std::size_t begin_ = 0;  // begin of the run that may be a batch
};

// The process that wrote a dump is a member of every group in it.
void narrow(FlightDump& dump, const std::vector<int>& members, std::optional<int> self) {
  if (members.empty() || dump.conflict) return;
  const std::vector<int> possible = self ? std::vector<int>{*self} : members;
  if (std::exchange(dump.any_rank, false)) {
    dump.candidates = possible;
  } else {
    std::vector<int> common;
    std::ranges::set_intersection(dump.candidates, possible, std::back_inserter(common));
    dump.candidates = std::move(common);
  }
  dump.conflict = dump.candidates.empty();
}

}  // namespace

const FlightOperation* FlightPosition::operation(std::size_t entry) const {
  const auto found = std::ranges::find(operations, entry, &FlightOperation::entry);
  return found == operations.end() ? nullptr : &*found;
}

const FlightPosition* FlightDump::position(std::uint32_t group) const {
  const auto found = position_of.find(group);
  return found == position_of.end() ? nullptr : &positions[found->second];
}

int FlightDump::rank() const {
  const auto possible = [&](int rank) {
    return rank >= 0 && (any_rank || conflict || std::ranges::binary_search(candidates, rank));
  };
  if (possible(said_rank)) return said_rank;
  if (possible(named_rank)) return named_rank;
  return !conflict && candidates.size() == 1 ? candidates.front() : -1;
}

void Flight::apply(std::uint32_t source, const Source& origin, const Event& event) {
  if (const auto* about = std::get_if<FlightRecorderDump>(&event.fact)) {
    begin(source, origin, *about, {source, event.line, event.offset, event.time, event.text});
  } else if (const auto* group = std::get_if<FlightRecorderGroup>(&event.fact)) {
    const auto current = current_.find(source);
    if (current == current_.end()) return;
    add(dumps_[current->second], *group,
        {source, event.line, event.offset, event.time, event.text});
  }
}

void Flight::begin(std::uint32_t source, const Source& origin, const FlightRecorderDump& about,
                   LineRef line) {
  FlightDump dump;
  dump.source = source;
  dump.host = origin.host;
  dump.said_rank = origin.rank;
  dump.named_rank = rank_in_name(origin.name);
  dump.about = about;
  if (line.time.known()) dump.newest_us = *line.time.wall_us;
  dump.line = std::move(line);

  // Replaces the same dump, of which more has come, or an earlier dump of the same process.
  const auto current = current_.find(source);
  if (current != current_.end()) {
    const FlightDump& before = dumps_[current->second];
    const bool same = before.line.offset == dump.line.offset;
    const bool next =
        before.rank() >= 0 && (before.rank() == origin.rank || before.rank() == dump.named_rank);
    const bool says_less = !about.refused.empty() && before.about.refused.empty();
    if (same || (next && !says_less)) {
      dumps_[current->second] = std::move(dump);
      return;
    }
  }
  if (dumps_.size() >= kMostDumps) {
    current_.erase(source);
    return;
  }
  current_[source] = dumps_.size();
  dumps_.push_back(std::move(dump));
}

std::uint32_t Flight::group_of(const FlightRecorderGroup& group) {
  // A name may be reused for other ranks.
  const std::pair key{group.name.empty() ? fmt::format("#{}", group.local_id) : group.name,
                      group.members};
  const auto [known, is_new] =
      group_index_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (!is_new) {
    FlightGroup& there = groups_[known->second];
    if (there.description.empty()) there.description = group.description;
    return known->second;
  }
  FlightGroup& added = groups_.emplace_back();
  added.name = group.name;
  added.description = group.description;
  if (group.name.empty()) added.local_id = group.local_id;
  added.members = ranks_of(group.members);
  return known->second;
}

std::uint32_t Flight::symbol_of(const FlightSignature& signature) {
  const std::string key = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", signature.operation, signature.input_sizes, signature.output_sizes,
      signature.input_dtypes, signature.output_dtypes, signature.point_to_point ? 1 : 0);
  const auto known = symbols_.find(key);
  if (known != symbols_.end()) return known->second;
  if (signatures_.size() >= kMostSymbols) {
    // Too many signatures: keeps this one without sizes, which are then not compared.
    if (signature.input_sizes.empty() && signature.output_sizes.empty()) return 0;
    FlightSignature bare = signature;
    bare.input_sizes.clear();
    bare.output_sizes.clear();
    return symbol_of(bare);
  }
  const auto symbol = static_cast<std::uint32_t>(signatures_.size());
  signatures_.push_back(signature);
  symbols_.emplace(key, symbol);
  return symbol;
}

std::uint32_t Flight::stack_of(const std::string& stack) {
  const auto known = stack_index_.find(stack);
  if (known != stack_index_.end()) return known->second;
  if (stacks_.size() >= kMostStacks) return 0;
  const auto symbol = static_cast<std::uint32_t>(stacks_.size());
  stacks_.push_back(stack);
  stack_index_.emplace(stack, symbol);
  return symbol;
}

void Flight::add(FlightDump& dump, const FlightRecorderGroup& group, LineRef line) {
  if (group.name.empty() && group.signature.empty()) {
    if (dump.nameless.size() < kMostNameless)
      dump.nameless.push_back({group.local_id, group.last_enqueued, group.last_completed});
    return;
  }
  if (groups_.size() >= kMostGroups || dump.positions.size() >= kMostGroups) return;
  FlightPosition& position = dump.positions.emplace_back();
  position.group = group_of(group);
  dump.position_of.try_emplace(position.group, dump.positions.size() - 1);
  position.local_id = group.local_id;
  position.last_enqueued = group.last_enqueued;
  position.last_completed = group.last_completed;
  position.line = std::move(line);
  dump.timing = dump.timing || group.last_started.value_or(-1) >= 0;
  const std::optional<int> self = add_entries(dump, position, group);
  add_operations(dump, position, group);
  dump.names_groups |= !groups_[position.group].members.empty();
  dump.has_first_call |=
      position.forgotten == 0 && !position.entries.empty() && position.entries.front().record == 0;
  narrow(dump, groups_[position.group].members, self);
}

// Returns the process's rank if its own entries show it.
std::optional<int> Flight::add_entries(FlightDump& dump, FlightPosition& position,
                                       const FlightRecorderGroup& group) {
  std::vector<std::uint32_t> symbols;
  std::vector<bool> closes;
  for (const FlightSignature& signature : group.signatures) {
    symbols.push_back(symbol_of(signature));
    closes.push_back(signature.operation.ends_with("coalesced") &&
                     signature.input_sizes.size() <= 2);
  }

  const std::size_t count = std::min(group.signature.size(), group.states.size());
  std::vector<FlightEntry> entries(count);
  std::vector<std::int64_t> collective(count);
  std::vector<std::int64_t> p2p(count);
  Sum sequence(group.sequence);
  Sum p2p_sequence(group.p2p_sequence);
  Sum record(group.record);
  Sum created(group.created_us);
  Batches batches(entries, collective, p2p);
  const std::vector<int>& members = groups_[position.group].members;
  std::optional<int> self;
  for (std::size_t i = 0; i < count; ++i) {
    FlightEntry& entry = entries[i];
    collective[i] = sequence.next();
    p2p[i] = p2p_sequence.next();
    entry.record = clamped(record.next());
    entry.created_us = created.next();
    entry.progress = progress_of(group.states[i]);
    entry.retired = group.states[i] >= 'A' && group.states[i] <= 'Z';
    dump.timing = dump.timing || entry.progress == FlightProgress::started;
    dump.newest_us = std::max(dump.newest_us, entry.created_us);
    const std::uint32_t which = group.signature[i];
    if (which >= symbols.size()) continue;
    entry.signature = symbols[which];
    const FlightSignature& signature = group.signatures[which];
    entry.point_to_point = is_point_to_point(signature);
    // PyTorch before 2.0 has one count for both.
    const bool own_count = entry.point_to_point && p2p[i] > 0;
    if (entry.point_to_point) entry.role = FlightRole::p2p;
    entry.own_count = own_count || !entry.point_to_point;
    entry.sequence = clamped(own_count ? p2p[i] : collective[i]);
    batches.resolve(i, closes[which]);
    if (!self && entry.point_to_point)
      if (const auto place = own_place(signature.operation); place && *place < members.size())
        self = members[*place];
  }

  position.forgotten = count - std::min(count, kMostEntries);
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(position.forgotten));
  entries.shrink_to_fit();
  position.entries = std::move(entries);
  return self;
}

void Flight::add_operations(FlightDump& dump, FlightPosition& position,
                            const FlightRecorderGroup& group) {
  const std::uint64_t end = position.forgotten + position.entries.size();
  for (const FlightDetail& detail : group.details) {
    if (detail.entry < position.forgotten || detail.entry >= end) continue;
    const bool has_stack =
        detail.stack >= 0 && static_cast<std::size_t>(detail.stack) < group.stacks.size();
    position.operations.push_back(
        {.entry = static_cast<std::uint32_t>(detail.entry - position.forgotten),
         .stack = has_stack ? stack_of(group.stacks[static_cast<std::size_t>(detail.stack)]) : 0,
         .thread = detail.thread});
    dump.timing = dump.timing || detail.started_us.has_value();
  }
}

std::map<std::uint32_t, std::string> Flight::refusals() const {
  std::map<std::uint32_t, std::string> refusals;
  for (const FlightDump& dump : dumps_) {
    if (dump.about.refused.empty())
      refusals.erase(dump.source);
    else
      refusals[dump.source] = dump.about.refused;
  }
  return refusals;
}

std::multimap<int, std::size_t> Flight::latest() const {
  std::multimap<int, std::size_t> latest;
  for (std::size_t i = 0; i < dumps_.size(); ++i) {
    const FlightDump& dump = dumps_[i];
    if (!dump.about.refused.empty()) continue;
    const int rank = dump.rank();
    const auto known = rank < 0 ? latest.end() : latest.find(rank);
    if (known == latest.end()) {
      latest.emplace(rank, i);
      continue;
    }
    // Of dumps of the same time, a complete one is preferred.
    const FlightDump& other = dumps_[known->second];
    const std::pair here{dump.newest_us, !dump.about.broken_off};
    const std::pair there{other.newest_us, !other.about.broken_off};
    if (here >= there) known->second = i;
  }
  return latest;
}

}  // namespace faultline
