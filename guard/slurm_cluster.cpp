#include "guard/slurm_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "guard/guard_mark.h"
#include "ship/state_file.h"

namespace faultline {
namespace {

constexpr std::string_view kReason = "faultline:";

// States in which Slurm may start jobs on a node, now or when it is woken. A mark behind a state,
// such as the * of a node that does not answer, makes it another one.
constexpr std::string_view kGoodStates[] = {
    "IDLE",  "ALLOCATED",    "MIXED",       "COMPLETING", "RESERVED",
    "CLOUD", "POWERED_DOWN", "POWERING_UP", "PLANNED",    "DYNAMIC_NORM"};

// The value of a field, up to the next blank; a field begins a line or follows a blank.
std::string_view field_in(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    if (at != 0 && line[at - 1] != ' ') continue;
    const std::string_view rest = line.substr(at + name.size());
    return rest.substr(0, rest.find(' '));
  }
  return {};
}

// With TZ=UTC0 scontrol prints times so; a node that is down may have none.
std::optional<Timestamp> time_in(std::string_view text) {
  return text.empty() ? std::nullopt : parse_rfc3339(std::string(text) + "Z");
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

GuardNode slurm_node_in(std::string_view line) {
  GuardNode node{.name = std::string(field_in(line, "NodeName="))};
  if (const std::string_view host = field_in(line, "NodeHostName=");
      !host.empty() && host != node.name)
    node.also.emplace_back(host);
  node.has_gpus = field_in(line, "Gres=").find("gpu") != std::string_view::npos;
  node.booted = time_in(field_in(line, "BootTime="));
  const std::vector<std::string_view> states = parts_of(field_in(line, "State="), '+');
  const auto is_good = [](std::string_view state) {
    return std::ranges::find(kGoodStates, state) != std::end(kGoodStates);
  };
  const auto is_drained = [](std::string_view state) { return state == "DRAIN"; };
  node.schedulable = std::ranges::all_of(states, is_good);
  const std::size_t reason = line.find(" Reason=");
  if (reason == std::string_view::npos) return node;
  const std::string_view text = line.substr(reason + 8);
  if (!text.starts_with(kReason)) return node;
  const std::optional<GuardMark> mark = mark_in(text);
  if (mark) node.memory.marks.push_back(*mark);
  // Resuming a node that is also down would say that it is up.
  node.taken = mark.has_value() && std::ranges::any_of(states, is_drained) &&
               std::ranges::all_of(states, [&](std::string_view state) {
                 return is_good(state) || is_drained(state);
               });
  return node;
}

// Where scontrol finds its settings and libraries, if not in their usual places.
std::vector<std::string> slurm_variables() {
  std::vector<std::string> variables{"TZ=UTC0"};
  for (const char* name : {"SLURM_CONF", "SLURM_CONF_SERVER", "LD_LIBRARY_PATH"})
    if (const char* value = std::getenv(name))
      variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

}  // namespace

std::vector<GuardNode> slurm_nodes_in(std::string_view text) {
  std::vector<GuardNode> nodes;
  for (const std::string_view line : parts_of(text, '\n'))
    if (line.starts_with("NodeName=")) nodes.push_back(slurm_node_in(line));
  return nodes;
}

SlurmCluster::SlurmCluster(std::string path, const std::filesystem::path& folder,
                           const std::atomic<bool>& stopped)
    : runner_(std::move(path), stopped, slurm_variables()), file_(folder / "slurm.json") {}

Result<void> SlurmCluster::open_state(bool writes) {
  if (writes) {
    Result<OpenDescriptor> lock = lock_state_folder(file_.parent_path());
    if (!lock) return lock.error();
    lock_ = std::move(*lock);
  }
  Error damaged{Error::Kind::invalid_input,
                fmt::format("{} cannot be read, so it is not known what was done to nodes; "
                            "remove it if that does not matter",
                            file_.string())};
  std::error_code error;
  const bool is_there = std::filesystem::exists(file_, error);
  if (error) return damaged;
  if (!is_there) return {};
  std::ifstream in(file_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  boost::system::error_code wrong;
  const boost::json::value kept = boost::json::parse(text, wrong);
  if (!in || wrong || !kept.is_object()) return damaged;
  for (const auto& [node, memory] : kept.get_object()) {
    const auto read = memory.is_string() ? memory_in(memory.get_string()) : std::nullopt;
    if (!read) return damaged;
    memories_[std::string(node)] = *read;
  }
  return {};
}

Result<void> SlurmCluster::keep(const std::string& name, const GuardMemory& memory) {
  std::map<std::string, GuardMemory> memories = memories_;
  memories[name] = memory;
  if (memory == GuardMemory{}) memories.erase(name);
  boost::json::object kept;
  for (const auto& [node, one] : memories) kept[node] = text_of_memory(one);
  if (!replace_file(file_, boost::json::serialize(kept) + "\n"))
    return Error{Error::Kind::invalid_input, fmt::format("cannot write {}", file_.string())};
  memories_ = std::move(memories);
  return {};
}

GuardMemory SlurmCluster::memory_of(const GuardNode& node) const {
  const auto found = memories_.find(node.name);
  if (found == memories_.end()) return node.memory;
  GuardMemory memory = found->second;
  // What Slurm says is what the node is taken for now, whoever took it.
  for (const GuardMark& mark : node.memory.marks) {
    std::erase(memory.marks, mark);
    add_mark(memory, mark);
  }
  return memory;
}

Result<std::string> SlurmCluster::scontrol(std::vector<std::string> words) {
  words.insert(words.begin(), "scontrol");
  const CommandResult result =
      runner_.run(words, {.time = std::chrono::seconds{15}, .bytes = std::size_t{64} << 20});
  if (result.ok()) return result.output;
  const std::string said = result.output.substr(0, result.output.find('\n'));
  return Error{Error::Kind::invalid_input,
               fmt::format("scontrol: {}{}{}", result.failure, said.empty() ? "" : ": ", said)};
}

Result<std::vector<GuardNode>> SlurmCluster::nodes() {
  const Result<std::string> shown = scontrol({"--oneliner", "show", "nodes"});
  if (!shown) return shown.error();
  std::vector<GuardNode> nodes = slurm_nodes_in(*shown);
  for (GuardNode& node : nodes) node.memory = memory_of(node);
  return nodes;
}

Result<GuardNode> SlurmCluster::node_now(const std::string& name) {
  const Result<std::string> shown = scontrol({"--oneliner", "show", "node", name});
  if (!shown) return shown.error();
  std::vector<GuardNode> nodes = slurm_nodes_in(*shown);
  if (nodes.size() != 1)
    return Error{Error::Kind::not_found, fmt::format("scontrol shows no node {}", name)};
  return std::move(nodes.front());
}

Result<void> SlurmCluster::take(const std::string& name, const GuardFinding& finding,
                                const GuardMark& mark) {
  const Result<GuardNode> node = node_now(name);
  if (!node) return node.error();
  if (!node->schedulable)
    return Error{Error::Kind::conflict, "the node went out of scheduling meanwhile"};
  // The mark is kept before the node is drained: what is not known to be ours is never given back.
  const GuardMemory before = memory_of(*node);
  GuardMemory after = before;
  add_mark(after, mark);
  if (const Result<void> kept = keep(name, after); !kept) return kept.error();
  const Result<std::string> done =
      scontrol({"update", "NodeName=" + name, "State=DRAIN",
                fmt::format("Reason={} {} ({})", kReason, finding.cause, text_of_mark(mark))});
  if (done) return {};
  // A node that was not drained was not given back either. If that is not known, the mark stays.
  const Result<GuardNode> now = node_now(name);
  if (now && now->schedulable)
    if (const Result<void> kept = keep(name, before); !kept) return kept.error();
  return done.error();
}

Result<void> SlurmCluster::give_back(const std::string& name, const std::string& finding,
                                     const std::string&, Timestamp now) {
  const Result<GuardNode> node = node_now(name);
  if (!node) return node.error();
  if (!node->taken || node->memory.marks.back().finding != finding)
    return Error{Error::Kind::conflict, "somebody changed the node or its reason meanwhile"};
  const Result<std::string> done = scontrol({"update", "NodeName=" + name, "State=UNDRAIN"});
  if (!done) return done.error();
  GuardMemory memory = memory_of(*node);
  faultline::settle(memory, now);
  return keep(name, memory);
}

Result<void> SlurmCluster::settle(const std::string& name, Timestamp now) {
  const Result<GuardNode> node = node_now(name);
  if (!node) return node.error();
  GuardMemory memory = memory_of(*node);
  faultline::settle(memory, now);
  return keep(name, memory);
}

bool SlurmCluster::may_have_taken(const std::string& node) { return memories_.contains(node); }

}  // namespace faultline
