#include "parsers/jax/coordination.h"

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/listed_ranks.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

constexpr std::string_view kBarriers[] = {"Barrier timed out. Id: ",
                                          "Barrier timed out. Barrier_id: "};  // older versions
constexpr std::string_view kReached = "# of tasks that reached the barrier: ";
constexpr std::string_view kNames[] = {"Some timed out task names:",
                                       "Timed out task names:"};  // older versions
constexpr std::string_view kSilent =
    "The following tasks are unhealthy (stopped sending heartbeats):";
constexpr std::string_view kEnd = "The tasks have crashed.";  // after the list of silent tasks
constexpr std::string_view kTask = "/task:";
constexpr std::size_t kMostNameBytes = 256;
constexpr int kMostForeign = 8;

std::string_view behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + words.size());
}

std::string_view behind_barrier(std::string_view text) {
  for (const std::string_view words : kBarriers)
    if (const std::string_view id = behind(text, words); !id.empty()) return id;
  return {};
}

// The text after "… timed out task names:", which may be empty.
std::optional<std::string_view> behind_names(std::string_view text) {
  for (const std::string_view words : kNames)
    if (const std::size_t at = text.find(words); at != std::string_view::npos)
      return text.substr(at + words.size());
  return std::nullopt;
}

// The barriers that all tasks pass when they connect to the service.
bool is_of_start(std::string_view id) {
  for (const std::string_view name : {"PjRT_Client_Connect", "[Init]", "Wait_for_all_tasks"})
    if (id.starts_with(name)) return true;
  return false;
}

// "multihost_barrier::3. This usually happens because …"
std::string barrier_name(std::string_view text) {
  text = text.substr(0, std::min(text.find(". "), kMostNameBytes));
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

class JaxTasks : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = line.text;
    if (const std::string_view id = behind_barrier(text); !id.empty()) {
      give(readings);
      list_.entry.operation.clear();
      begin(line, is_of_start(id) ? "not_at_start" : "not_at_barrier");
      list_.entry.operation = barrier_name(id);
    }
    if (text.find(kSilent) != std::string_view::npos) {
      give(readings);
      begin(line, "silent");
      names_ = true;
    }
    if (const std::string_view counts = behind(text, kReached); !counts.empty()) {
      if (list_.entry.what.empty()) begin(line, "not_at_barrier");
      count_missing(counts);
    }
    const auto names = behind_names(text);
    if (names) names_ = true;
    if (names_ && add_tasks(names.value_or(text))) {
      list_.foreign = 0;
      return Line::part;
    }
    if (text.find(kEnd) != std::string_view::npos) {
      give(readings);
      return Line::last;
    }
    if (is_part(text)) return Line::part;
    return ++list_.foreign > kMostForeign ? Line::after : Line::foreign;
  }

  void finish(std::vector<DocumentReading>& readings) override { give(readings); }
  std::string_view dialect() const override { return "jax"; }

  std::size_t size() const override { return list_.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(names_ ? 1 : 0);
    saved.number(missing_);
    list_.save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    names_ = saved.number() != 0;
    missing_ = saved.number();
    list_.restore(saved);
  }

 private:
  static bool is_part(std::string_view text) {
    return !behind_barrier(text).empty() || text.find(kReached) != std::string_view::npos ||
           behind_names(text) || text.find(kSilent) != std::string_view::npos ||
           tool_text::trimmed(text).empty();
  }

  void begin(const DocumentLine& line, std::string_view what) {
    list_.entry.what = what;
    list_.first.keep(line);
    list_.foreign = 0;
  }

  // "6/8."
  void count_missing(std::string_view text) {
    static const Pattern kCounts(R"(^(\d{1,7})/(\d{1,7}))");
    int reached = 0;
    int all = 0;
    if (kCounts.find(text, &reached, &all)) missing_ = all - reached;
  }

  // /job:jax_worker/replica:0/task:3
  bool add_tasks(std::string_view text) {
    bool any = false;
    for (std::size_t at = text.find(kTask); at != std::string_view::npos;
         at = text.find(kTask, at)) {
      at += kTask.size();
      std::size_t end = at;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      const auto number = number_in<int>(text.substr(at, end - at));
      if (!number) continue;
      any = true;
      list_.add(*number);
    }
    return any;
  }

  void give(std::vector<DocumentReading>& readings) {
    if (static_cast<std::int64_t>(list_.entry.ranks.size()) < missing_)
      list_.entry.what = "some_" + list_.entry.what;
    list_.give(readings);
    names_ = false;
    missing_ = 0;
  }

  ListedRanks list_;
  bool names_ = false;        // names of tasks follow
  std::int64_t missing_ = 0;  // how many tasks are missing, listed or not
};

}  // namespace

bool begins_jax_tasks(std::string_view text) {
  return !behind_barrier(text).empty() || text.starts_with(kReached) ||
         text.find(kSilent) != std::string_view::npos;
}

std::unique_ptr<Document> make_jax_tasks() { return std::make_unique<JaxTasks>(); }

// cuda:local_topology/cuda/3: task 3 never said which devices it has.
bool parse_jax_key(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kTopology(
      R"(GetKeyValue\(\) timed out with key: \w+:local_topology/\w+/(\d{1,7})\b)");
  std::string_view task;
  if (!kTopology.find(text, &task)) return false;
  DesyncEntry entry{.ranks = {rank_in(task).value_or(-1)}, .what = "not_at_barrier"};
  entry.operation = "exchange of topologies";
  readings.push_back({.fact = std::move(entry)});
  return true;
}

}  // namespace faultline
