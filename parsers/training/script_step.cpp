#include "parsers/training/script_step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using tool_text::trimmed;

constexpr std::int64_t kMost = 1'000'000'000'000;
constexpr std::string_view kBetween = " :=#[](){},|-\t";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_'; }

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() > word.size() &&
         !(lower(text[word.size()]) >= 'a' && lower(text[word.size()]) <= 'z') &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, lower);
}

// Takes one of the words off the front, ignoring case.
template <std::size_t N>
bool take_word(std::string_view& text, const std::array<std::string_view, N>& words) {
  for (const std::string_view word : words)
    if (begins_with_word(text, word)) {
      text.remove_prefix(word.size());
      return true;
    }
  return false;
}

constexpr auto kTraining = std::to_array<std::string_view>({"training", "train"});
constexpr auto kEpoch = std::to_array<std::string_view>({"epoch"});
constexpr auto kStep = std::to_array<std::string_view>(
    {"global step", "global_step", "step", "iteration", "iter", "batch", "update"});

void skip_between(std::string_view& text) {
  constexpr std::size_t kMostBetween = 4;
  std::size_t n = 0;
  while (n < text.size() && n < kMostBetween && kBetween.find(text[n]) != std::string_view::npos)
    ++n;
  text.remove_prefix(n);
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > kMost || !is_digit(text.front()))
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// " / 500", " of 500"
std::int64_t take_total(std::string_view& text) {
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('/'))
    rest.remove_prefix(1);
  else if (rest.starts_with("of "))
    rest.remove_prefix(3);
  else
    return 0;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.empty()) return 0;
  const auto total = take_number(rest);
  if (!total) return 0;
  text = rest;
  return *total;
}

// Whether the text after the counters has a word for something that is measured in a step.
bool tells_of_training(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"loss", "acc", "accuracy", "lr", "ppl", "perplexity", "reward", "mfu", "grad_norm"});
  constexpr auto kRates = std::to_array<std::string_view>(
      {"it/s", "s/it", "/sec", "samples/s", "tokens/s", "tok/s", "ms/step", "img/s"});
  for (const std::string_view rate : kRates)
    if (text.find(rate) != std::string_view::npos) return true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_word(text[at]) || (at > 0 && is_word(text[at - 1]) && text[at - 1] != '_')) continue;
    for (const std::string_view word : kWords)
      if (begins_with_word(text.substr(at), word)) return true;
  }
  return false;
}

// "loss: 2.31", "train loss 2.31", "Loss=nan"; not the loss of a validation or a test.
std::string_view loss_in(std::string_view text) {
  for (std::size_t at = 0; at + 4 < text.size(); ++at) {
    if (lower(text[at]) != 'l' || (at > 0 && is_word(text[at - 1]))) continue;
    std::string_view rest = text.substr(at);
    if (!begins_with_word(rest, "loss")) continue;
    const std::string_view before = trimmed(text.substr(0, at));
    if (before.ends_with("val") || before.ends_with("eval") || before.ends_with("valid") ||
        before.ends_with("test"))
      continue;
    rest.remove_prefix(4);
    skip_between(rest);
    return rest.substr(0, std::min(rest.find_first_of(" ,|/)]}\t;"), rest.size()));
  }
  return {};
}

void skip_blanks_and_signs(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :="), text.size()));
}

enum class PartOfAStep { none, work, wait };

// Decides by the words of a name: "fwd_bwd", "data", "all_reduce", "grads-sync". Neither work nor
// wait: names with async, wait, queue or request, and names about moving data ("data_sync").
PartOfAStep part_named(std::string_view name) {
  constexpr auto kWait = std::to_array<std::string_view>(
      {"allreduce", "reduce", "gather", "allgather", "scatter", "comm", "communication", "sync",
       "barrier", "recv", "broadcast", "alltoall", "nccl", "collective", "collectives"});
  constexpr auto kWork = std::to_array<std::string_view>(
      {"fwd", "bwd", "forward", "backward", "compute", "computation", "data", "dataloader", "optim",
       "optimizer", "kernel", "kernels"});
  constexpr auto kBeside = std::to_array<std::string_view>({"async", "wait", "queue", "request"});
  bool works = false;
  bool waits = false;
  bool feeds = false;
  std::string lowered(name);
  std::ranges::transform(lowered, lowered.begin(), lower);
  for (std::string_view rest = lowered; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of("_-"), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (std::ranges::find(kBeside, word) != kBeside.end()) return PartOfAStep::none;
    works |= std::ranges::find(kWork, word) != kWork.end();
    waits |= std::ranges::find(kWait, word) != kWait.end();
    feeds |= word.starts_with("data");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (waits) return feeds ? PartOfAStep::none : PartOfAStep::wait;
  return works ? PartOfAStep::work : PartOfAStep::none;
}

// "fwd_bwd 901.9 ms allreduce: 30.9ms". Nothing if work or wait is missing.
std::optional<TrainingLine::Parts> parts_in(std::string_view text, bool cut) {
  constexpr std::size_t kMostOfAName = 40;
  constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>(
      {{"ms", 1e-3}, {"us", 1e-6}, {"seconds", 1}, {"sec", 1}, {"s", 1}});
  TrainingLine::Parts parts;
  bool works = false;
  bool waits = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && (is_word(text[at]) || text[at] == '-')) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    if (name.empty() || is_digit(name.front()) || name.size() > kMostOfAName) {
      at = std::max(at, begin + 1);
      continue;
    }
    std::string_view rest = text.substr(at);
    skip_blanks_and_signs(rest);
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || !(value >= 0 && value < 1e9)) continue;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    at = text.size() - rest.size();
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    for (const auto& [unit, scale] : kUnits) {
      if (!rest.starts_with(unit) || (rest.size() > unit.size() && is_word(rest[unit.size()])) ||
          (cut && rest.size() == unit.size()))
        continue;
      const PartOfAStep part = part_named(name);
      works |= part == PartOfAStep::work;
      waits |= part == PartOfAStep::wait;
      if (part == PartOfAStep::work) parts.work += value * scale;
      if (part == PartOfAStep::wait) parts.wait += value * scale;
      break;
    }
  }
  return works && waits ? std::optional(parts) : std::nullopt;
}

// Takes off what stands before the counter.
bool take_front_of_counter(std::string_view& text, bool& epoch) {
  if (text.starts_with('[')) text.remove_prefix(1);
  if (take_word(text, kTraining)) skip_between(text);
  epoch = take_word(text, kEpoch);
  return epoch || take_word(text, kStep);
}

}  // namespace

bool begins_script_step(std::string_view text) {
  constexpr std::string_view kFirst = "[EeSsIiTtBbUuGg";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return false;
  bool epoch = false;
  if (!take_front_of_counter(text, epoch)) return false;
  skip_between(text);
  return !text.empty() && is_digit(text.front());
}

std::optional<TrainingLine> read_script_step(std::string_view text, bool cut) {
  bool epoch = false;
  if (!take_front_of_counter(text, epoch)) return std::nullopt;
  skip_between(text);
  if (text.empty()) return std::nullopt;
  const std::string_view counters = text;
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  const std::int64_t total = take_total(text);
  if (cut && text.empty()) return std::nullopt;
  if (total > 0 && *first > total) return std::nullopt;
  const bool alone = epoch && total > 0 && trimmed(text).empty() && !cut;
  const auto parts = parts_in(text, cut);
  if (!alone && !parts && !tells_of_training(text)) return std::nullopt;
  TrainingLine line{.tool = kScriptTool};
  line.parts = parts;
  if (!epoch) {
    line.step = *first;
    line.of = total;
  } else {
    line.epochs = counters.substr(0, counters.size() - text.size());
    std::string_view rest = text;
    skip_between(rest);
    take_word(rest, kStep);
    skip_between(rest);
    const auto step = rest.empty() ? std::nullopt : take_number(rest);
    const std::int64_t of = step ? take_total(rest) : 0;
    if (step && of > 0 && *step <= of && *first < 1'000'000) {
      line.step = *step;
      line.of = of;
      line.epoch = *first;
      text = rest;
    }
  }
  line.loss = loss_in(text);
  if (cut && line.loss.end() == text.end()) line.loss = {};
  return line;
}

}  // namespace faultline
