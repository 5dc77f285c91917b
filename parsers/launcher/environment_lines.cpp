#include "parsers/launcher/environment_lines.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::size_t kMostValueBytes = 256;
constexpr std::size_t kMostVariables = 64;  // in a line
constexpr std::size_t kMostLaunched = std::size_t{1} << 20;

// Variables that say something about a job.
bool is_of_interest(std::string_view name) {
  return name == "WORLD_SIZE" || name.starts_with("NCCL_") || name.starts_with("TORCH_") ||
         name.starts_with("TORCHELASTIC_");
}

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

struct Assignment {
  std::string_view name;
  std::string_view value;
};

// Takes NAME=VALUE off the front; reads VALUE as a shell does.
std::optional<Assignment> take_assignment(std::string_view& text) {
  const std::size_t equals =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_name) - text.begin());
  if (equals == 0 || equals >= text.size() || text[equals] != '=') return std::nullopt;
  if (text[0] >= '0' && text[0] <= '9') return std::nullopt;
  Assignment assignment{.name = text.substr(0, equals), .value = {}};
  std::string_view rest = text.substr(equals + 1);
  const char quote = rest.empty() ? '\0' : rest.front();
  if (quote == '"' || quote == '\'') {
    const std::size_t end = rest.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    assignment.value = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    const std::size_t end = std::min(rest.find_first_of(" \t;"), rest.size());
    assignment.value = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  text = rest;
  return assignment;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// Skips what may stand before a command: a prompt, the marks of set -x, export.
void skip_beginning(std::string_view& text) {
  skip_blanks(text);
  while (take_front(text, "+")) skip_blanks(text);
  for (const std::string_view word : {"$ ", "export ", "declare -x ", "env "})
    if (take_front(text, word)) skip_blanks(text);
}

void give(std::string group, std::string_view name, std::string_view value,
          std::vector<Reading>& readings) {
  if (readings.size() >= kMostVariables || value.size() > kMostValueBytes) return;
  readings.push_back(
      {.fact = Setting{
           .group = std::move(group), .name = std::string(name), .value = std::string(value)}});
}

void give(const Assignment& assignment, std::vector<Reading>& readings) {
  // Ignore a value that a shell has yet to expand.
  if (is_of_interest(assignment.name) && assignment.value.find('$') == std::string_view::npos)
    give("script", assignment.name, assignment.value, readings);
}

// A count of processes or hosts; not "gpu", "1:4" or a variable.
bool give_count(std::string_view name, std::string_view value, std::vector<Reading>& readings) {
  const auto count = number_in<std::size_t>(value);
  if (!is_count(value) || !count || *count == 0 || *count > kMostLaunched) return false;
  give("launch", name, value, readings);
  return true;
}

// --nproc_per_node 8, --nproc-per-node=8
std::optional<std::string_view> option(std::string_view text, const Pattern& pattern) {
  std::string_view value;
  if (!pattern.find(text, &value)) return std::nullopt;
  return value;
}

void read_launcher(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kNodes(R"((?:^|\s)--nnodes(?:=|\s+)(\S+))");
  static const Pattern kProcesses(R"((?:^|\s)--nproc[-_]per[-_]node(?:=|\s+)(\S+))");
  const auto nodes = option(text, kNodes);
  const auto processes = option(text, kProcesses);
  if (nodes) give_count("nodes", *nodes, readings);
  if (!processes || !give_count("processes", *processes, readings)) return;
  // Without --nnodes torchrun uses one node. But the option may follow if the command goes on in
  // the next line.
  const bool whole = text.find("torchrun ") != std::string_view::npos && !text.ends_with('\\');
  if (!nodes && whole) give_count("nodes", "1", readings);
}

// mpirun -x NAME=VALUE, docker run -e NAME=VALUE, --env NAME=VALUE
void read_options(std::string_view text, std::vector<Reading>& readings) {
  for (const std::string_view flag : {" -x ", " -e ", " --env "}) {
    std::string_view rest = text;
    std::string_view before;
    while (take_until(rest, flag, before)) {
      skip_blanks(rest);
      if (const auto assignment = take_assignment(rest)) give(*assignment, readings);
    }
  }
}

// os.environ["NCCL_TIMEOUT"] = "3600"
void read_python(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kSet(
      R"re(os\.environ(?:\[|\.setdefault\()["'](\w+)["'](?:\]\s*=|,)\s*(?:str\()?["']?([^"')]*)["']?\)?\s*$)re");
  std::string_view name;
  std::string_view value;
  if (kSet.find(text, &name, &value)) give({name, trimmed(value)}, readings);
}

struct Size {
  std::string_view sign;
  std::string_view name;
  std::string_view expression;
};

// The first group is the number.
constexpr std::array kSizes = {
    Size{"global_world_sizes=", "world size", R"(^\s*global_world_sizes=\[(\d+))"},
    Size{"min_nodes", "nodes", R"(^\s*min_nodes\s*: (\d+)\s*$)"},
    Size{"nproc_per_node", "processes", R"(^\s*nproc_per_node\s*: (\d+)\s*$)"},
    Size{"dist_world_size=", "world size", R"(dist_world_size=(\d+))"},
    Size{"MEMBER: ", "world size", R"(GLOBAL_RANK: \d+, MEMBER: \d+/(\d+))"},
    Size{"using world size: ", "world size", R"(using world size: (\d+),)"},
};

}  // namespace

bool parse_environment_line(std::string_view text, std::vector<Reading>& readings) {
  const std::size_t before = readings.size();
  std::string_view rest = text;
  skip_beginning(rest);
  if (rest.starts_with('#')) return false;
  bool assigned = false;
  while (const auto assignment = take_assignment(rest)) {
    give(*assignment, readings);
    assigned = true;
    skip_blanks(rest);
    while (take_front(rest, ";")) skip_blanks(rest);
    if (take_front(rest, "export ")) skip_blanks(rest);
  }
  const bool is_command = assigned || rest.find("torchrun ") != std::string_view::npos ||
                          rest.find("run ") != std::string_view::npos || rest.starts_with("--");
  if (is_command && !rest.empty()) {
    read_launcher(rest, readings);
    read_options(rest, readings);
  }
  if (!assigned) read_python(rest, readings);
  return readings.size() > before;
}

bool parse_world_size(std::string_view text, std::vector<Reading>& readings) {
  static const auto kPatterns = [] {
    std::deque<Pattern> patterns;
    for (const Size& size : kSizes) patterns.emplace_back(size.expression);
    return patterns;
  }();
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    if (text.find(kSizes[i].sign) == std::string_view::npos) continue;
    std::string_view number;
    if (kPatterns[i].find(text, &number) && give_count(kSizes[i].name, number, readings))
      return true;
  }
  return false;
}

// ProcessGroupNCCL environments: NCCL version: 2.27.5, TORCH_NCCL_BLOCKING_WAIT: 0, ...
bool parse_torch_settings(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kFirstGroup(R"(PG Name: (?:0|default_pg)(?:,|\s*$))");
  std::string_view rest = text;
  std::string_view before;
  const bool options = take_until(rest, "ProcessGroupNCCL initialization options: ", before);
  if (!options && !take_until(rest, " environments: ", before)) return false;
  const bool of_all_ranks = kFirstGroup.find(rest);
  const std::size_t told = readings.size();
  for (const std::string_view pair : pieces_of(rest, ", ")) {
    const std::size_t colon = pair.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trimmed(pair.substr(0, colon));
    const std::string_view value = trimmed(pair.substr(colon + 2));
    if (name.starts_with("TORCH_") && std::ranges::all_of(name, is_of_name))
      give("torch", name, value, readings);
    if (!of_all_ranks) continue;
    if (name == "size") give_count("world size", value, readings);
    if (name == "TIMEOUT(ms)" && is_count(value)) give("torch", name, value, readings);
  }
  return readings.size() > told;
}

}  // namespace faultline
