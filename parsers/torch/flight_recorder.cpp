#include "parsers/torch/flight_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/ranks.h"
#include "parsers/json/json_tree.h"
#include "parsers/torch/pickle.h"

namespace faultline {
namespace {

using Index = ValueTree::Index;
constexpr Index kNothing = ValueTree::kNothing;

constexpr std::size_t kMaxGroups = 1024;
constexpr std::size_t kMaxDetails = 64;  // for a group, from each end of its unfinished entries
constexpr std::size_t kMaxStacks = 64;   // for a group
constexpr std::size_t kMaxFrames = 64;
constexpr std::size_t kMaxFrameBytes = 400;
constexpr std::size_t kMaxRemembered = 4096;  // frames, and stacks
constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxSizesBytes = 1000;
// In a pickle all entries may share one long list of types; each signature has a copy of it.
constexpr std::size_t kMaxSignatureBytes = std::size_t{16} << 20;  // of all groups
// All groups may share one long list of ranks; each has a copy of it.
constexpr std::size_t kMaxMemberBytes = std::size_t{16} << 20;

enum class Key : std::uint8_t {
  not_looked_up,
  unknown,
  record_id,
  pg_id,
  process_group,
  sequence,
  p2p_sequence,
  operation_id,
  operation,
  created,
  duration,
  input_sizes,
  output_sizes,
  input_dtypes,
  output_dtypes,
  state,
  started,
  completed,
  retired,
  timeout,
  is_p2p,
  frames,
  thread_name,
  thread_id,
  count,
};

struct NamedKey {
  std::string_view name;
  Key key;
};

constexpr NamedKey kKeys[] = {
    {"record_id", Key::record_id},
    {"pg_id", Key::pg_id},
    {"process_group", Key::process_group},
    {"collective_seq_id", Key::sequence},
    {"seq_id", Key::sequence},  // until 1.x
    {"p2p_seq_id", Key::p2p_sequence},
    {"op_id", Key::operation_id},
    {"profiling_name", Key::operation},
    {"time_created_ns", Key::created},
    {"duration_ms", Key::duration},
    {"input_sizes", Key::input_sizes},
    {"output_sizes", Key::output_sizes},
    {"input_dtypes", Key::input_dtypes},
    {"output_dtypes", Key::output_dtypes},
    {"state", Key::state},
    {"time_discovered_started_ns", Key::started},
    {"time_discovered_completed_ns", Key::completed},
    {"retired", Key::retired},
    {"timeout_ms", Key::timeout},
    {"is_p2p", Key::is_p2p},
    {"frames", Key::frames},
    {"thread_name", Key::thread_name},
    {"thread_id", Key::thread_id},
};

std::string_view clipped(std::string_view text, std::size_t bytes) { return text.substr(0, bytes); }

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The values of one entry, indexed by Key.
using Entry = std::array<Index, static_cast<std::size_t>(Key::count)>;

class DumpReader {
 public:
  DumpReader(const ValueTree& tree, std::string_view form) : tree_(tree) { dump_.form = form; }

  // False: it is not a dump.
  bool read(bool broken_off) {
    dump_.broken_off = broken_off;
    const Index root = tree_.root();
    if (root == kNothing) return false;
    Index entries = kNothing;
    if (tree_.kind(root) == ValueTree::Kind::list) {  // the first nightly builds
      entries = root;
      if (tree_.size(root) == 0) return false;
    } else {
      entries = tree_.member(root, "entries");
      const Index config = tree_.member(root, "pg_config");
      if (!is(entries, ValueTree::Kind::list) && !is(config, ValueTree::Kind::dictionary) &&
          !is(tree_.member(root, "pg_status"), ValueTree::Kind::dictionary))
        return false;
      dump_.version = word(tree_.member(root, "version"));
      dump_.library_version = word(tree_.member(root, "comm_lib_version"));
      if (dump_.library_version.empty())
        dump_.library_version = word(tree_.member(root, "nccl_version"));
      read_config(config);
    }
    read_entries(entries);
    if (!refused_.empty()) return true;
    const bool compares = !counts_all_groups_together() || count_each_group();
    name_groups();
    if (compares && tree_.kind(root) == ValueTree::Kind::dictionary)
      read_status(tree_.member(root, "pg_status"));
    // Other programs have lists of entries too.
    if (compares && groups_.empty() && dump_.entries > 0 &&
        dump_.unreadable_entries == dump_.entries)
      return false;
    for (Group& group : groups_) add_details(group);
    return true;
  }

  void take(std::vector<DumpedFact>& facts) {
    if (!refused_.empty()) {
      facts.push_back(refused_dump(dump_.form, std::move(refused_)));
      return;
    }
    const EventTime time = newest_us_ ? time_at(*newest_us_) : EventTime{};
    std::string text = fmt::format("Flight Recorder dump ({}", dump_.form);
    if (!dump_.version.empty())
      fmt::format_to(std::back_inserter(text), ", version {}", dump_.version);
    if (!dump_.library_version.empty())
      fmt::format_to(std::back_inserter(text), ", NCCL {}", dump_.library_version);
    fmt::format_to(std::back_inserter(text), "): {} entries of {} process groups{}",
                   dump_.entries - dump_.unreadable_entries, groups_.size(),
                   dump_.broken_off ? "; the file breaks off" : "");
    facts.push_back({std::move(dump_), time, std::move(text)});
    for (Group& group : groups_) {
      std::string about = describe(group);
      const EventTime last = group.newest_us ? time_at(*group.newest_us) : time;
      facts.push_back({std::move(group.fact), last, std::move(about)});
    }
  }

 private:
  struct Group {
    FlightRecorderGroup fact;
    std::unordered_multimap<std::size_t, std::uint32_t> signatures;  // in fact, by their hash
    std::vector<Index> entries;
    std::int64_t sequence = 0;  // of the last entry
    std::int64_t p2p_sequence = 0;
    std::int64_t record = 0;
    std::int64_t created_us = 0;
    std::optional<std::int64_t> newest_us;
    std::optional<std::size_t> first_open;  // after the last completed entry
    std::optional<std::size_t> last_completed;
  };

  static EventTime time_at(std::int64_t us) {
    return EventTime::at(Timestamp(std::chrono::microseconds(us)));
  }

  bool is(Index value, ValueTree::Kind kind) const {
    return value != kNothing && tree_.kind(value) == kind;
  }

  std::string word(Index value) const {
    return std::string(clipped(tree_.text(value).value_or(""), kMaxNameBytes));
  }

  // A number, or the text of one.
  std::optional<std::int64_t> number(Index value) const {
    if (const auto whole = tree_.integer(value)) return whole;
    const auto text = tree_.text(value);
    return text ? number_in(*text) : std::nullopt;
  }

  // Converts nanoseconds. None and 0 both mean that the event did not happen.
  std::optional<std::int64_t> microseconds(Index value) const {
    const auto ns = number(value);
    if (!ns || *ns <= 0) return std::nullopt;
    return *ns / 1000;
  }

  Group* group_named(const std::string& name, std::int64_t local_id) {
    const auto key = std::pair(name, name.empty() ? local_id : -1);
    const auto [known, is_new] = by_name_.try_emplace(key, groups_.size());
    if (!is_new) return &groups_[known->second];
    if (groups_.size() >= kMaxGroups) {
      by_name_.erase(known);
      return nullptr;
    }
    Group& group = groups_.emplace_back();
    group.fact.name = name;
    return &group;
  }

  void read_config(Index config) {
    if (config == kNothing) return;
    tree_.for_each_member(config, [&](std::string_view name, Index about) {
      Group* group = group_named(std::string(clipped(name, kMaxNameBytes)), -1);
      if (group == nullptr || !refused_.empty()) return;
      group->fact.description = word(tree_.member(about, "desc"));
      const Index ranks = tree_.member(about, "ranks");
      if (const auto text = tree_.text(ranks)) {
        set_members(*text, *group);
      } else if (ranks != kNothing) {
        std::string list;
        tree_.for_each(ranks, [&](Index rank) {
          if (const auto one = tree_.integer(rank)) list += fmt::format("{} ", *one);
        });
        set_members(list, *group);
      }
    });
  }

  void set_members(std::string_view list, Group& group) {
    member_bytes_ += list.size();
    if (member_bytes_ > kMaxMemberBytes)
      refused_ = fmt::format("the lists of the ranks of its groups take more than {} MB",
                             kMaxMemberBytes >> 20);
    else
      group.fact.members = to_text(ranks_in_list(list));
  }

  // Until 2.0 an entry names its group only by a local number. A group gets this number and its
  // name, a number too, when it is made. So if there are as many of both, they match in order.
  void name_groups() {
    std::map<std::int64_t, std::size_t> named;
    std::map<std::int64_t, std::size_t> nameless;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const FlightRecorderGroup& fact = groups_[i].fact;
      if (fact.name.empty()) {
        nameless.emplace(fact.local_id, i);
      } else {
        const auto number = number_in(fact.name);
        if (!groups_[i].entries.empty() || !number) return;
        named.emplace(*number, i);
      }
    }
    if (named.empty() || named.size() != nameless.size()) return;
    std::vector<bool> taken(groups_.size(), false);
    auto name = named.begin();
    for (const auto& [local_id, place] : nameless) {
      const FlightRecorderGroup& from = groups_[name->second].fact;
      FlightRecorderGroup& to = groups_[place].fact;
      to.name = from.name;
      to.description = from.description;
      to.members = from.members;
      taken[(name++)->second] = true;
    }
    std::vector<Group> kept;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (!taken[i]) kept.push_back(std::move(groups_[i]));
    groups_ = std::move(kept);
    by_name_.clear();
    for (std::size_t i = 0; i < groups_.size(); ++i)
      by_name_.try_emplace({groups_[i].fact.name, -1}, i);
  }

  // TorchComms counts the operations of all groups of a process together. Then sequence number and
  // record differ by the same amount in all groups. PyTorch begins each group at 1.
  bool counts_all_groups_together() const {
    std::optional<std::int64_t> apart;
    int several = 0;  // groups with several entries
    for (const Group& group : groups_) {
      std::int64_t number = 0;
      std::int64_t record = 0;
      for (std::size_t i = 0; i < group.fact.sequence.size(); ++i) {
        number = sum(number, group.fact.sequence[i]);
        record = sum(record, group.fact.record[i]);
        if (record < 0) return false;
        const std::int64_t now = sum(number, -record);
        if (now != apart.value_or(now)) return false;
        apart = now;
      }
      several += group.fact.sequence.size() > 1 ? 1 : 0;
    }
    return several > 1;
  }

  // Counts the entries of each group from 1. False: the recorder has dropped its first entries, so
  // the counts are not known and cannot be compared between ranks.
  bool count_each_group() {
    const bool whole = std::ranges::any_of(groups_, [](const Group& group) {
      return !group.fact.record.empty() && group.fact.record.front() == 0;
    });
    if (!whole) {
      dump_.unreadable_entries = dump_.entries;
      groups_.clear();
      by_name_.clear();
      return false;
    }
    for (Group& group : groups_) {
      std::ranges::fill(group.fact.sequence, 1);
      group.sequence = std::ssize(group.fact.sequence);
    }
    return true;
  }

  // Unsigned, because a hostile dump may have numbers that overflow.
  static std::int64_t sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }

  Key key_of(Index key) {
    if (keys_.empty()) keys_.resize(tree_.values(), Key::not_looked_up);
    Key& known = keys_[key];
    if (known != Key::not_looked_up) return known;
    known = Key::unknown;
    const auto name = tree_.text(key);
    if (!name) return known;
    const auto* found = std::ranges::find(kKeys, *name, &NamedKey::name);
    if (found != std::end(kKeys)) known = found->key;
    return known;
  }

  bool open_entry(Index dictionary, Entry& entry) {
    if (tree_.kind(dictionary) != ValueTree::Kind::dictionary) return false;
    entry.fill(kNothing);
    Index key = kNothing;
    tree_.for_each(dictionary, [&](Index value) {
      if (key == kNothing) {
        key = value;
        return;
      }
      entry[static_cast<std::size_t>(key_of(key))] = value;
      key = kNothing;
    });
    return true;
  }

  static Index at(const Entry& entry, Key key) { return entry[static_cast<std::size_t>(key)]; }

  void read_entries(Index entries) {
    if (entries == kNothing || !tree_.is_sequence(entries)) return;
    dump_.has_entries = true;
    Entry entry;
    tree_.for_each(entries, [&](Index value) {
      if (!refused_.empty()) return;
      if (tree_.unfinished(value)) return;  // the file ended within it
      ++dump_.entries;
      if (!open_entry(value, entry) || !read_entry(value, entry)) ++dump_.unreadable_entries;
    });
  }

  bool read_entry(Index value, const Entry& entry) {
    const auto operation = tree_.text(at(entry, Key::operation));
    const auto sequence = number(at(entry, Key::sequence));
    const auto local_id = number(at(entry, Key::pg_id));
    if (!operation || !sequence) return false;
    std::string name;
    std::string description;
    read_group(at(entry, Key::process_group), name, description);
    if (name.empty() && !local_id) return false;
    Group* group = group_named(name, local_id.value_or(-1));
    if (group == nullptr) return false;
    if (group->fact.description.empty()) group->fact.description = description;
    if (local_id) group->fact.local_id = *local_id;

    const bool completed = add_columns(*group, entry, *operation, *sequence);
    const std::size_t place = group->entries.size();
    group->entries.push_back(value);
    if (completed) {
      group->last_completed = place;
      group->first_open.reset();
    } else if (!group->first_open) {
      group->first_open = place;
    }
    if (at(entry, Key::frames) != kNothing) dump_.has_stacks = true;
    return true;
  }

  void read_group(Index value, std::string& name, std::string& description) const {
    if (value == kNothing || !tree_.is_sequence(value)) {
      name = value == kNothing ? std::string() : word(value);
      return;
    }
    int place = 0;
    tree_.for_each(value, [&](Index part) {
      if (place == 0) {
        const auto numbered = tree_.integer(part);
        name = numbered ? std::to_string(*numbered) : word(part);
      }
      if (place == 1) description = word(part);
      ++place;
    });
  }

  // True: the entry is completed.
  bool add_columns(Group& group, const Entry& entry, std::string_view operation,
                   std::int64_t sequence) {
    FlightRecorderGroup& fact = group.fact;
    fact.signature.push_back(signature_of(group, entry, operation));

    char state = '?';
    if (const auto said = tree_.text(at(entry, Key::state))) {
      if (*said == "completed") state = 'c';
      if (*said == "started") state = 'r';
      if (*said == "scheduled") state = 's';
    }
    const bool completed = state == 'c';
    if (state != '?' && tree_.boolean(at(entry, Key::retired)).value_or(false))
      state = static_cast<char>(std::toupper(state));
    fact.states += state;

    push_difference(fact.sequence, group.sequence, sequence);
    push_difference(fact.p2p_sequence, group.p2p_sequence,
                    number(at(entry, Key::p2p_sequence)).value_or(0));
    push_difference(fact.record, group.record, number(at(entry, Key::record_id)).value_or(0));
    const auto created = microseconds(at(entry, Key::created));
    push_difference(fact.created_us, group.created_us, created.value_or(group.created_us));
    if (created) {
      group.newest_us = std::max(group.newest_us.value_or(*created), *created);
      newest_us_ = std::max(newest_us_.value_or(*created), *created);
    }
    add_duration(fact, tree_.number(at(entry, Key::duration)));
    return completed;
  }

  static void push_difference(std::vector<std::int64_t>& column, std::int64_t& before,
                              std::int64_t value) {
    // Unsigned, because a hostile dump may have numbers that overflow.
    column.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                               static_cast<std::uint64_t>(before)));
    before = value;
  }

  static void add_duration(FlightRecorderGroup& fact, std::optional<double> ms) {
    constexpr double kMaxMs = 1e12;
    const bool known = ms && *ms >= 0 && *ms < kMaxMs;
    if (!known && fact.duration_us.empty()) return;
    fact.duration_us.resize(fact.signature.size(), -1);
    if (known) fact.duration_us.back() = std::llround(*ms * 1000);
  }

  std::uint32_t signature_of(Group& group, const Entry& entry, std::string_view operation) {
    FlightSignature& signature = scratch_;
    signature.operation = clipped(operation, kMaxNameBytes);
    write_sizes(at(entry, Key::input_sizes), signature.input_sizes);
    write_sizes(at(entry, Key::output_sizes), signature.output_sizes);
    write_names(at(entry, Key::input_dtypes), signature.input_dtypes);
    write_names(at(entry, Key::output_dtypes), signature.output_dtypes);
    signature.point_to_point = tree_.boolean(at(entry, Key::is_p2p)).value_or(false);
    key_.clear();
    for (const std::string* part :
         {&signature.operation, &signature.input_sizes, &signature.output_sizes,
          &signature.input_dtypes, &signature.output_dtypes}) {
      key_ += *part;
      key_ += '\n';
    }
    key_ += signature.point_to_point ? 'p' : 'c';
    const std::size_t hash = std::hash<std::string_view>{}(key_);
    const auto [begin, end] = group.signatures.equal_range(hash);
    for (auto known = begin; known != end; ++known)
      if (group.fact.signatures[known->second] == signature) return known->second;
    signature_bytes_ += sizeof signature + key_.size();
    if (signature_bytes_ > kMaxSignatureBytes) {
      refused_ = fmt::format("the names, sizes and types of its operations take more than {} MB",
                             kMaxSignatureBytes >> 20);
      return 0;
    }
    const auto fresh = static_cast<std::uint32_t>(group.fact.signatures.size());
    group.signatures.emplace(hash, fresh);
    group.fact.signatures.push_back(signature);
    return fresh;
  }

  // [[8192,64],[]]: a list for each tensor.
  void write_sizes(Index value, std::string& text) const {
    text.clear();
    if (value == kNothing || !tree_.is_sequence(value)) return;
    text += '[';
    tree_.for_each(value, [&](Index tensor) {
      if (text.size() >= kMaxSizesBytes) return;
      text += text.size() == 1 ? "[" : ",[";
      bool first = true;
      tree_.for_each(tensor, [&](Index size) {
        if (text.size() >= kMaxSizesBytes) return;
        if (!std::exchange(first, false)) text += ',';
        const auto elements = tree_.integer(size);
        if (elements)
          fmt::format_to(std::back_inserter(text), "{}", *elements);
        else
          text += '?';
      });
      text += ']';
    });
    text += text.size() >= kMaxSizesBytes ? "..." : "]";
  }

  void write_names(Index value, std::string& text) const {
    text.clear();
    if (value == kNothing) return;
    tree_.for_each(value, [&](Index name) {
      if (text.size() >= kMaxSizesBytes) return;
      if (!text.empty()) text += ',';
      text += clipped(tree_.text(name).value_or("?"), kMaxNameBytes);
    });
  }

  void read_status(Index status) {
    if (status == kNothing) return;
    tree_.for_each_member(status, [&](std::string_view id, Index about) {
      const auto local_id = number_in(id);
      if (!local_id) return;
      auto known = std::ranges::find(groups_, *local_id,
                                     [](const Group& group) { return group.fact.local_id; });
      Group* group = known != groups_.end() ? &*known : group_named({}, *local_id);
      if (group == nullptr) return;
      group->fact.local_id = *local_id;
      group->fact.last_enqueued = number(tree_.member(about, "last_enqueued_collective"));
      group->fact.last_started = number(tree_.member(about, "last_started_collective"));
      group->fact.last_completed = number(tree_.member(about, "last_completed_collective"));
    });
  }

  void add_details(Group& group) {
    if (group.last_completed) add_detail(group, *group.last_completed);
    if (!group.first_open) return;
    const std::size_t first = *group.first_open;
    const std::size_t end = group.entries.size();
    const std::size_t head = std::min(end, first + kMaxDetails);
    for (std::size_t i = first; i < head; ++i) add_detail(group, i);
    for (std::size_t i = std::max(head, end - std::min(end, kMaxDetails)); i < end; ++i)
      add_detail(group, i);
  }

  void add_detail(Group& group, std::size_t place) {
    Entry entry;
    if (!open_entry(group.entries[place], entry)) return;
    FlightDetail& detail = group.fact.details.emplace_back();
    detail.entry = static_cast<std::uint32_t>(place);
    detail.thread = word(at(entry, Key::thread_name));
    if (detail.thread.empty()) detail.thread = word(at(entry, Key::thread_id));
    detail.operation_id = number(at(entry, Key::operation_id));
    detail.timeout_ms = number(at(entry, Key::timeout));
    detail.started_us = microseconds(at(entry, Key::started));
    detail.completed_us = microseconds(at(entry, Key::completed));
    for (const auto& seen : {detail.started_us, detail.completed_us})
      if (seen) newest_us_ = std::max(newest_us_.value_or(*seen), *seen);
    const Index frames = at(entry, Key::frames);
    if (frames != kNothing) detail.stack = stack_of(group.fact, frames);
  }

  // A dump has each frame only once, even if it is in many stacks.
  const std::string& line_of(Index frame) {
    if (lines_.size() >= kMaxRemembered) lines_.clear();
    const auto [known, is_new] = lines_.try_emplace(frame);
    std::string& line = known->second;
    if (!is_new) return line;
    line = fmt::format("{} ({}:{})", tree_.text(tree_.member(frame, "name")).value_or("?"),
                       tree_.text(tree_.member(frame, "filename")).value_or("?"),
                       tree_.integer(tree_.member(frame, "line")).value_or(0));
    std::ranges::replace(line, '\n', ' ');
    line.resize(std::min(line.size(), kMaxFrameBytes));
    return line;
  }

  int stack_of(FlightRecorderGroup& fact, Index frames) {
    std::vector<Index> seen;
    tree_.for_each(frames, [&](Index frame) {
      if (seen.size() < kMaxFrames && tree_.is_container(frame)) seen.push_back(frame);
    });
    if (seen.empty()) return -1;
    if (stacks_.size() >= kMaxRemembered) stacks_.clear();
    const auto [stored, is_new] = stacks_.try_emplace({&fact, seen}, -1);
    if (!is_new) return stored->second;
    std::string stack;
    for (const Index frame : seen) {
      if (!stack.empty()) stack += '\n';
      stack += line_of(frame);
    }
    const auto known = std::ranges::find(fact.stacks, stack);
    if (known != fact.stacks.end())
      return stored->second = static_cast<int>(known - fact.stacks.begin());
    if (fact.stacks.size() >= kMaxStacks) return -1;
    fact.stacks.push_back(std::move(stack));
    return stored->second = static_cast<int>(fact.stacks.size() - 1);
  }

  static std::string describe(const Group& group) {
    const FlightRecorderGroup& fact = group.fact;
    std::string text = "process group ";
    auto out = std::back_inserter(text);
    if (fact.name.empty())
      fmt::format_to(out, "number {} of this process", fact.local_id);
    else
      text += fact.name;
    if (!fact.description.empty()) fmt::format_to(out, " ({})", fact.description);
    if (fact.last_enqueued) fmt::format_to(out, ": last enqueued {}", *fact.last_enqueued);
    if (fact.last_started.value_or(-1) >= 0)
      fmt::format_to(out, ", last started {}", *fact.last_started);
    if (fact.last_completed) fmt::format_to(out, ", last completed {}", *fact.last_completed);
    fmt::format_to(out, "; {} entries", fact.signature.size());
    if (!group.first_open) return text;
    const std::size_t open = *group.first_open;
    std::int64_t sequence = 0;
    std::int64_t p2p_sequence = 0;
    for (std::size_t i = 0; i <= open; ++i) {
      sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(sequence) +
                                           static_cast<std::uint64_t>(fact.sequence[i]));
      p2p_sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(p2p_sequence) +
                                               static_cast<std::uint64_t>(fact.p2p_sequence[i]));
    }
    const FlightSignature& signature = fact.signatures[fact.signature[open]];
    fmt::format_to(out, ", the first unfinished: {}{} {} {} {}",
                   signature.point_to_point ? "p2p " : "",
                   signature.point_to_point ? p2p_sequence : sequence, signature.operation,
                   clipped(signature.input_sizes, kMaxNameBytes),
                   clipped(signature.input_dtypes, kMaxNameBytes));
    switch (std::tolower(fact.states[open])) {
      case 's':
        text += ", scheduled";
        break;
      case 'r':
        text += ", started";
        break;
      default:
        break;
    }
    return text;
  }

  const ValueTree& tree_;
  FlightRecorderDump dump_;
  std::vector<Group> groups_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> by_name_;
  std::vector<Key> keys_;  // by the index of the key's text in the tree
  std::optional<std::int64_t> newest_us_;
  std::unordered_map<Index, std::string> lines_;  // the text of each frame
  std::map<std::pair<const FlightRecorderGroup*, std::vector<Index>>, int> stacks_;
  FlightSignature scratch_;
  std::string key_;
  std::size_t signature_bytes_ = 0;
  std::size_t member_bytes_ = 0;
  std::string refused_;  // why the dump is not read
};

constexpr std::string_view kNoDump = "it has no Flight Recorder dump";

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

DumpForm dump_form(std::string_view beginning, bool all) {
  if (beginning.empty()) return DumpForm::unsure;
  if (begins_pickle(beginning)) {
    if (beginning.size() >= 2) return DumpForm::pickle;
    return all ? DumpForm::none : DumpForm::unsure;
  }
  // Recognise pickles of protocols 0 and 1 too: they are refused with a reason, not read as text.
  for (const std::string_view old :
       {std::string_view("(dp0\n"), std::string_view("(lp0\n"), std::string_view("}q\0(", 4)}) {
    if (beginning.starts_with(old)) return DumpForm::pickle;
    if (!all && old.starts_with(beginning)) return DumpForm::unsure;
  }

  // JSON: the first key must be one that dumps have, and a key must occur that only dumps have.
  std::string_view rest = without_blanks(beginning);
  if (rest.starts_with('[')) rest = without_blanks(rest.substr(1));
  if (rest.empty())
    return all || beginning.size() >= kDumpFormBytes ? DumpForm::none : DumpForm::unsure;
  if (rest.front() != '{') return DumpForm::none;
  rest = without_blanks(rest.substr(1));
  const bool enough = all || beginning.size() >= kDumpFormBytes;
  if (rest.empty()) return enough ? DumpForm::none : DumpForm::unsure;
  if (rest.front() != '"') return DumpForm::none;
  const std::size_t quote = rest.find('"', 1);
  if (quote == std::string_view::npos) return enough ? DumpForm::none : DumpForm::unsure;
  constexpr std::string_view kFirst[] = {
      "version",   "pg_config", "nccl_version",     "comm_lib_version",
      "pg_status", "entries",   "nccl_comm_state",  "frames",
      "record_id", "pg_id",     "collective_seq_id"};
  if (std::ranges::find(kFirst, rest.substr(1, quote - 1)) == std::end(kFirst))
    return DumpForm::none;
  // If the first line is a whole object, it is a record of a log, and only this line counts.
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  const std::size_t last = line.find_last_not_of(" \t\r");
  const bool is_record = line.size() < beginning.size() && !line.empty() && last == line.rfind('}');
  const auto has = [&](std::string_view key) {
    return (is_record ? line : beginning).find(key) != std::string_view::npos;
  };
  for (const std::string_view certain :
       {"\"pg_config\"", "\"pg_status\"", "\"comm_lib_version\"", "\"collective_seq_id\"",
        "\"profiling_name\"", "\"process_group\"", "\"nccl_comm_state\""})
    if (has(certain)) return DumpForm::json;
  if (has("\"frames\"") && has("\"filename\"")) return DumpForm::json;
  if (is_record) return DumpForm::none;
  return enough ? DumpForm::none : DumpForm::unsure;
}

DumpedFact refused_dump(std::string_view form, std::string reason) {
  FlightRecorderDump dump;
  dump.form = form;
  dump.refused = std::move(reason);
  std::string text = fmt::format("{} not read: {}", form, dump.refused);
  return {std::move(dump), {}, std::move(text)};
}

DumpReading read_dump_pickle(std::string_view bytes, bool all) {
  DumpReading reading;
  const Pickle pickle = read_pickle(bytes);
  reading.consumed = bytes.size();
  if (pickle.outcome == Pickle::Outcome::refused) {
    reading.facts.push_back(refused_dump("pickle", pickle.reason));
    return reading;
  }
  const bool broken_off = pickle.outcome == Pickle::Outcome::broken_off;
  if (broken_off && !all) {
    reading.outcome = DumpReading::Outcome::incomplete;
    return reading;
  }
  reading.consumed = pickle.consumed;
  DumpReader reader(pickle.tree, "pickle");
  if (reader.read(broken_off)) {
    reader.take(reading.facts);
  } else {
    reading.facts.push_back(refused_dump(
        "pickle", std::string(broken_off ? "it breaks off before any usable data" : kNoDump)));
    if (broken_off) std::get<FlightRecorderDump>(reading.facts.back().fact).broken_off = true;
  }
  return reading;
}

DumpReading read_dump_json(std::string_view text, bool broken_off) {
  DumpReading reading;
  reading.consumed = text.size();
  const JsonTree json = read_json_tree(text);
  if (!json.reason.empty()) {
    reading.facts.push_back(refused_dump("json", json.reason));
    return reading;
  }
  DumpReader reader(json.tree, "json");
  if (reader.read(broken_off))
    reader.take(reading.facts);
  else
    reading.outcome = DumpReading::Outcome::other;
  return reading;
}

}  // namespace faultline
