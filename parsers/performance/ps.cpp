#include "parsers/performance/ps.h"

#include <algorithm>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

constexpr std::size_t kMostColumns = 24;
constexpr std::size_t kMostRows = 512;
constexpr std::size_t kCommandBytes = 200;

bool is_state_column(std::string_view column) {
  return column == "STAT" || column == "S" || column == "STATE";
}
bool is_command_column(std::string_view column) {
  return column == "COMMAND" || column == "CMD" || column == "COMM" || column == "ARGS";
}

// USER  PID %CPU %MEM  VSZ  RSS TTY  STAT START  TIME COMMAND
Words head_of(std::string_view text) {
  text = trimmed(text);
  if (text.find("PID ") == std::string_view::npos) return {};
  const Words columns = words_of(text, kMostColumns);
  const bool named = std::ranges::find(columns, "PID") != columns.end() &&
                     std::ranges::any_of(columns, is_state_column) && !columns.empty() &&
                     is_command_column(columns.back());
  return named ? columns : Words();
}

// D, Ss, R+, Zl
bool is_state(std::string_view word) {
  constexpr std::string_view kStates = "RSDZTtIXW";
  constexpr std::string_view kMore = "<NLsl+";
  return !word.empty() && kStates.find(word.front()) != std::string_view::npos &&
         word.find_first_not_of(kMore, 1) == std::string_view::npos;
}

bool stands_still(std::string_view state) {
  return state.front() == 'D' || state.front() == 'Z' || state.front() == 'T' ||
         state.front() == 't';
}

bool may_be_of_a_job(std::string_view command) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"python", "torchrun", "train", "nccl", "mpirun"},
      [&](std::string_view word) { return command.find(word) != std::string_view::npos; });
}

class Processes : public PartDocument {
 public:
  Processes() : PartDocument("ps") {}

 private:
  Line read(std::string_view text) override {
    if (const Words head = head_of(text); !head.empty()) {
      words_.clear();
      stage_ = 0;
      for (const std::string_view column : head) word(column);
      return Line::part;
    }
    std::string_view rest = trimmed(text);
    std::string_view pid;
    std::string_view state;
    std::vector<NamedValue> values;
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      const std::size_t end = rest.find(' ');
      if (end == std::string_view::npos) return Line::after;
      const std::string_view cell = rest.substr(0, end);
      rest = trimmed(rest.substr(end));
      const std::string_view column = words_[i];
      if (column == "PID") pid = cell;
      if (is_state_column(column)) state = cell;
      if (column == "%CPU" || column == "WCHAN" || column == "ELAPSED" || column == "START")
        values.push_back({std::string(column), std::string(cell)});
    }
    if (!is_count(pid) || !is_state(state) || rest.empty()) return Line::after;
    if (!stands_still(state) && !may_be_of_a_job(rest)) return Line::part;
    if (static_cast<std::size_t>(stage_) >= kMostRows || cut()) return Line::part;
    ++stage_;
    OpenPart& process = open("process");
    process.name("pid", pid);
    process.value("STAT", state);
    for (const NamedValue& value : values) process.value(value.name, value.value);
    process.value("COMMAND", rest.substr(0, kCommandBytes));
    give_all();
    return Line::part;
  }
};

}  // namespace

bool begins_ps(std::string_view text) { return !head_of(text).empty(); }

std::unique_ptr<Document> make_ps() { return std::make_unique<Processes>(); }

}  // namespace faultline
