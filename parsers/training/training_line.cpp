#include "parsers/training/training_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/ranks.h"
#include "parsers/tool/tool_text.h"
#include "parsers/training/script_step.h"

namespace faultline {
namespace {

using tool_text::take_front;
using tool_text::take_until;
using tool_text::trimmed;
using What = TrainingLine::What;

constexpr std::int64_t kMostSteps = 1'000'000'000'000;

// A text that is followed by a duration; scale converts the duration to seconds.
struct Duration {
  std::string_view name;
  double scale = 1;
};

// A form of lines about steps: how they begin, what else they contain, and the texts before their
// numbers.
struct StepForm {
  std::string_view tool;
  std::string_view begins;
  std::string_view holds;
  std::string_view step;
  Duration seconds[2];
  std::string_view loss;
};

constexpr StepForm kSteps[] = {
    {"Megatron-LM",
     "iteration ",
     " | ",
     "iteration ",
     {{"elapsed time per iteration (ms): ", 1e-3}, {"elapsed time per iteration (s): "}},
     "lm loss: "},
    {"NeMo",
     "Training epoch ",
     " | ",
     ", iteration ",
     {{"train_step_timing in s: "}, {}},
     "reduced_train_loss: "},
    {"DeepSpeed", "step=", ", skipped=", "step=", {}, {}},
    {"DeepSpeed", "epoch=", "/global_step=", "/global_step=", {}, {}},
    {"DeepSpeed", "steps: ", " iter time (s): ", "steps: ", {{"iter time (s): "}, {}}, " loss: "},
    {"torchtitan", "step: ", " loss: ", "step: ", {}, " loss: "},
    {"MaxText", "completed step: ", ", seconds: ", "step: ", {{"seconds: "}, {}}, ", loss: "},
};

// A form of lines about events: how they begin, what else they contain, what happens, and the text
// before the step, if there is one.
struct EventForm {
  std::string_view tool;
  std::string_view begins;
  std::string_view holds;
  What what;
  std::string_view step;
};

constexpr EventForm kEvents[] = {
    {"Megatron-LM", "saving checkpoint at iteration ", {}, What::save_begins, "iteration "},
    {"Megatron-LM", "global rank ", " is saving checkpoint at iteration ", What::save_begins,
     "iteration "},
    {"Megatron-LM", "successfully saved checkpoint", {}, What::save_ends, "iteration "},
    {"Megatron-LM", "Evaluating on ", " samples", What::evaluates, {}},
    {"Megatron-LM", "Evaluating iter ", {}, What::evaluates, {}},
    {"Megatron-LM", "validation loss at ", {}, What::evaluated, "iteration "},
    {"Megatron-LM", "[after training is done]", {}, What::ended, {}},
    {"NeMo", "Validation: iteration ", {}, What::evaluates, {}},
    {"HF Trainer", "Saving model checkpoint to ", {}, What::save_begins, "checkpoint-"},
    {"HF Trainer", "***** Running Evaluation *****", {}, What::evaluates, {}},
    {"torchtitan", "Saving the checkpoint (or staging", {}, What::save_begins, {}},
    {"torchtitan", "Finished saving the checkpoint", {}, What::save_ends, {}},
    {"torchtitan", "validate step: ", {}, What::evaluated, "step: "},
    {"MaxText", "Completed eval after train step ", {}, What::evaluated, "step "},
    {{}, "`Trainer.fit` stopped: ", {}, What::ended, {}},  // NeMo's too
};

// The last line of torchtitan. It must be alone on its line: scripts print these words about an
// epoch, or before a failure.
constexpr std::string_view kCompleted = "Training completed";

// Bars of tqdm, by the text before their percentage.
struct BarForm {
  std::string_view begins;
  What what;
};

constexpr BarForm kBars[] = {
    {"Epoch ", What::step},
    {"Validation DataLoader", What::evaluates},
    {"Validating", What::evaluates},
};

constexpr std::string_view kLightning = "Lightning";
constexpr std::string_view kTrainer = "HF Trainer";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_blanks_in_front(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// A text. If it is cut, a number at its end may lack digits and is not read.
struct Text {
  std::string_view all;
  bool cut = false;

  std::size_t behind(std::string_view name) const {
    const std::size_t at = name.empty() ? std::string_view::npos : all.find(name);
    return at == std::string_view::npos ? at : at + name.size();
  }

  // The value after a name; empty: there is none.
  std::string_view word(std::string_view name) const {
    const std::size_t at = behind(name);
    return at == std::string_view::npos ? std::string_view() : word_at(at);
  }

  std::string_view word_at(std::size_t at) const {
    std::string_view rest = without_blanks_in_front(all.substr(at));
    const std::size_t end = rest.find_first_of(" \t,|/}]");
    if (end == std::string_view::npos && cut) return {};
    return rest.substr(0, end);
  }
};

std::optional<std::int64_t> count_in(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  // NeMo prints some counts as 119.0.
  const std::string_view after(end, static_cast<std::size_t>(word.data() + word.size() - end));
  if (word.empty() || error != std::errc() || value < 0 || value > kMostSteps ||
      after.find_first_not_of(".0") != std::string_view::npos)
    return std::nullopt;
  return value;
}

std::string_view without_quotes(std::string_view word) {
  if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"') &&
      word.back() == word.front())
    word = word.substr(1, word.size() - 2);
  return word;
}

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool is_not_a_number(std::string_view word) {
  const auto value = number_in(word);
  return value && !std::isfinite(*value);
}

std::optional<double> seconds_in(const Text& text, const StepForm& form) {
  constexpr double kMost = 1e7;
  for (const Duration& duration : form.seconds) {
    const auto value = number_in(text.word(duration.name));
    if (value && *value >= 0 && *value * duration.scale < kMost) return *value * duration.scale;
  }
  return std::nullopt;
}

// "1520/  50000": the total after the step; 0 if there is none.
std::int64_t total_behind(const Text& text, std::size_t at) {
  at = text.all.find_first_not_of(' ', at);
  if (at == std::string_view::npos) return 0;
  at = text.all.find_first_not_of("0123456789", at);
  if (at == std::string_view::npos || text.all[at] != '/') return 0;
  return count_in(text.word_at(at + 1)).value_or(0);
}

void add_loss(std::string_view word, TrainingLine& line) {
  word = without_quotes(word);
  if (!number_in(word)) return;
  line.loss = word;
  line.not_a_number = is_not_a_number(word);
}

std::optional<TrainingLine> read_step(const Text& text) {
  for (const StepForm& form : kSteps) {
    if (!text.all.starts_with(form.begins) || text.all.find(form.holds) == std::string_view::npos)
      continue;
    const std::size_t at = text.behind(form.step);
    if (at == std::string_view::npos) continue;
    const auto step = count_in(text.word_at(at));
    if (!step) return std::nullopt;
    TrainingLine line{.tool = form.tool, .step = *step, .of = total_behind(text, at)};
    // NeMo counts iterations from 0 in each epoch. global_step counts over all epochs, so use it
    // instead; then a smaller iteration's total does not fit.
    if (const auto global = count_in(text.word("global_step: "))) {
      if (line.of > 0 && *global > *step) line.of = 0;
      line.step = *global;
    }
    line.seconds = seconds_in(text, form);
    add_loss(text.word(form.loss), line);
    return line;
  }
  return std::nullopt;
}

std::optional<TrainingLine> read_event(const Text& text) {
  for (const EventForm& form : kEvents) {
    if (!text.all.starts_with(form.begins)) continue;
    if (!form.holds.empty() && text.all.find(form.holds) == std::string_view::npos) continue;
    TrainingLine line{.what = form.what, .tool = form.tool};
    if (const auto step = count_in(text.word(form.step))) line.step = *step;
    return line;
  }
  if (text.all.starts_with(kCompleted) && !text.cut &&
      text.all.find_first_not_of(".! ", kCompleted.size()) == std::string_view::npos)
    return TrainingLine{.what = What::ended};
  return std::nullopt;
}

// {'loss': 2.31, 'grad_norm': 0.4, 'learning_rate': 5e-05, 'epoch': 0.42}
std::optional<TrainingLine> read_dictionary(const Text& text) {
  if (!text.all.starts_with("{'")) return std::nullopt;
  TrainingLine line{.what = What::loss, .tool = kTrainer};
  const std::string_view epochs = without_quotes(text.word("'epoch': "));
  if (number_in(epochs)) line.epochs = epochs;
  if (text.all.starts_with("{'train_runtime': ")) {
    line.what = What::ended;
    return line;
  }
  if (text.all.starts_with("{'eval_")) {
    line.what = What::evaluated;
    return line;
  }
  if (!text.all.starts_with("{'loss': ") || (text.behind("'learning_rate': ") == text.all.npos &&
                                             text.behind("'epoch': ") == text.all.npos))
    return std::nullopt;
  add_loss(text.word("{'loss': "), line);
  // The trainer leaves NaN out of the mean loss, and the mean of no values is 0.
  const auto loss = number_in(line.loss);
  if (loss && *loss == 0 && is_not_a_number(without_quotes(text.word("'grad_norm': "))))
    line.not_a_number = true;
  return line;
}

// "1.09it/s", "4.20s/it"
std::optional<double> seconds_by_rate(std::string_view rate) {
  const bool inverse = rate.ends_with("it/s");
  if (!inverse && !rate.ends_with("s/it")) return std::nullopt;
  const auto value = number_in(rate.substr(0, rate.size() - 4));
  constexpr double kMost = 1e7;
  if (!value || !(*value > 1 / kMost && *value < kMost)) return std::nullopt;
  return inverse ? 1 / *value : *value;
}

// " 12%|#2        | 120/1000 [02:11<16:02,  1.09it/s, loss=2.3]", with or without a name before it.
std::optional<TrainingLine> read_bar(std::string_view text) {
  TrainingLine line{.what = What::bar};
  if (!is_digit(text.front())) {
    const auto form = std::ranges::find_if(
        kBars, [&](const BarForm& bar) { return text.starts_with(bar.begins); });
    if (form == std::end(kBars)) return std::nullopt;
    line.what = form->what;
    line.tool = kLightning;
    text.remove_prefix(form->begins.size());
    std::string_view name;
    if (!take_until(text, ":", name)) return std::nullopt;
    if (line.what == What::step) {
      const auto epoch = count_in(name);
      if (!epoch || *epoch > 1'000'000) return std::nullopt;
      line.epoch = *epoch;
    }
    text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
  }
  constexpr std::size_t kMostShare = 3;
  constexpr std::size_t kMostBar = 1024;  // bytes; a block has 3, and terminals may be wide
  std::string_view share;
  std::string_view drawn;
  if (!take_until(text, "%|", share) || share.size() > kMostShare || !tool_text::is_count(share))
    return std::nullopt;
  if (!take_until(text, "| ", drawn) || drawn.size() > kMostBar) return std::nullopt;
  std::string_view done;
  std::string_view total;
  if (!take_until(text, "/", done) || !take_until(text, " [", total)) return std::nullopt;
  const auto step = count_in(trimmed(done));
  const auto of = count_in(total);
  if (!step || !of || *of == 0 || *step > *of) return std::nullopt;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  line.step = *step;
  line.of = *of;
  line.rest = trimmed(text.substr(end + 1));
  const Text inside{text.substr(0, end)};
  if (std::string_view times; take_until(text, ",", times) && times.size() < end)
    line.seconds = seconds_by_rate(trimmed(text.substr(0, text.find_first_of(",]"))));
  if (line.what != What::step) return line;
  if (const auto global = count_in(inside.word("global_step="))) {
    line.step = *global;
    line.epoch = -1;
    line.of = 0;
  }
  for (const std::string_view name : {"reduced_train_loss=", " train_loss=", " loss="})
    if (line.loss.empty()) add_loss(inside.word(name), line);
  return line;
}

std::optional<Timestamp> stamp_in(std::string_view text) {
  if (text.size() < 19 || !is_digit(text.front())) return std::nullopt;
  return parse_rfc3339(text);
}

std::optional<TrainingLine> read_script(const Text& text) {
  if (text.all.find("%|") != std::string_view::npos) return std::nullopt;  // a piece of a bar
  std::optional<TrainingLine> line = read_script_step(text.all, text.cut);
  if (line) add_loss(std::exchange(line->loss, {}), *line);
  return line;
}

// Whether a line of one of the tables may begin like this.
bool begins_like_one(std::string_view text) {
  if (text.empty()) return false;
  if (begins_script_step(text)) return true;
  switch (text.front()) {
    case 'i':
      return text.starts_with("iteration ");
    case 's':
      return text.starts_with("step") || text.starts_with("saving checkpoint") ||
             text.starts_with("successfully saved");
    case 'c':
      return text.starts_with("completed step: ");
    case 'e':
      return text.starts_with("epoch=");
    case 'g':
      return text.starts_with("global rank ");
    case 'v':
      return text.starts_with("valid");
    case 'C':
      return text.starts_with("Completed eval");
    case 'E':
      return text.starts_with("Epoch ") || text.starts_with("Evaluating ");
    case 'F':
      return text.starts_with("Finished saving");
    case 'S':
      return text.starts_with("Saving ");
    case 'T':
      return text.starts_with("Training ");
    case 'V':
      return text.starts_with("Valid");
    case '*':
      return text.starts_with("***** Running Eval");
    case '`':
      return text.starts_with("`Trainer.fit");
    case '{':
      return text.starts_with("{'loss'") || text.starts_with("{'eval_") ||
             text.starts_with("{'train_runtime'");
    case '[':
      return text.starts_with("[after training");
    default:
      return is_digit(text.front()) && text.substr(0, 5).find("%|") != std::string_view::npos;
  }
}

// What a logger or script puts before the text of a line.
struct LineHeader {
  std::optional<Timestamp> stamp;
  int rank = -1;
  int ranks = 0;
};

constexpr std::size_t kMostHeaderBytes = 96;  // in a part of a header

// "rank 3/8", "Rank 0", "RANK=1", "rank 3 of 8": a label that a script puts before its lines.
void read_rank_label(std::string_view inside, LineHeader& header) {
  std::size_t letters = 0;
  for (constexpr std::string_view kWord = "rank"; letters < kWord.size(); ++letters)
    if (letters >= inside.size() || (inside[letters] | 0x20) != kWord[letters]) return;
  inside.remove_prefix(letters);
  inside.remove_prefix(std::min(inside.find_first_not_of(" =:"), inside.size()));
  const std::size_t digits = std::min(inside.find_first_not_of("0123456789"), inside.size());
  const auto rank = count_in(inside.substr(0, digits));
  if (!rank || *rank >= kMaxRanks) return;
  inside.remove_prefix(digits);
  std::string_view total = inside;
  const bool of = take_front(total, "/") || take_front(total, " of ");
  const auto ranks = of ? count_in(total) : std::nullopt;
  if (!inside.empty() && (!ranks || *ranks <= *rank || *ranks > kMaxRanks)) return;
  header.rank = static_cast<int>(*rank);
  header.ranks = static_cast<int>(ranks.value_or(0));
}

// "[titan] ", "[Rank 0] ", "[2026-03-05 02:31:07] "
bool take_bracket(std::string_view& text, LineHeader& header) {
  const std::size_t end = text.substr(0, kMostHeaderBytes).find(']');
  if (end == std::string_view::npos) return false;
  std::string_view inside = text.substr(1, end - 1);
  take_front(inside, "NeMo I ");
  if (!header.stamp) header.stamp = stamp_in(inside);
  if (!header.stamp) header.stamp = stamp_in(inside.substr(0, 19));
  read_rank_label(inside, header);
  text.remove_prefix(end + 1);
  return true;
}

// "2026-03-05 02:31:07,123 - root - INFO - ", or a stamp with >> after it.
bool take_stamp(std::string_view& text, LineHeader& header) {
  const std::size_t end = std::min(text.find(" - "), text.find(" >> "));
  if (end == std::string_view::npos || end > kMostHeaderBytes) return false;
  const auto at = stamp_in(text.substr(0, end));
  if (!at) return false;
  if (!header.stamp) header.stamp = at;
  text.remove_prefix(end + (text[end + 1] == '-' ? 0 : 4));
  return true;
}

// "- root - INFO - "
bool take_dashes(std::string_view& text) {
  std::string_view dash = text;
  std::string_view name;
  std::string_view level;
  if (!take_front(dash, "- ") || !take_until(dash, " - ", name) ||
      !take_until(dash, " - ", level) || name.size() + level.size() > kMostHeaderBytes)
    return false;
  text = dash;
  return true;
}

// Whether a logger logs steps of something other than training.
bool is_of_something_else(std::string_view logger) {
  constexpr std::string_view kWords[] = {"test",  "val",  "eval",  "bench", "engine", "serv",
                                         "sched", "load", "infer", "sampl", "worker"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return logger.find(word) != std::string_view::npos; });
}

// "INFO ", "INFO:", "- INFO - ", and the name of the logger after it: "trainer ", "__main__:".
bool take_level(std::string_view& text) {
  std::string_view rest = text;
  take_front(rest, "- ");
  if (!take_front(rest, "INFO")) return false;
  const auto take_separator = [](std::string_view& from) {
    const std::size_t length = std::min(from.find_first_not_of(" :|-"), from.size());
    from.remove_prefix(length);
    return length > 0;
  };
  if (!take_separator(rest)) return false;
  text = rest;
  const std::size_t name =
      std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.0123456789"), rest.size());
  if (name == 0 || name > kMostHeaderBytes || begins_like_one(rest)) return true;
  if (is_of_something_else(rest.substr(0, name))) return false;
  rest.remove_prefix(name);
  if (take_separator(rest) && (rest.starts_with('[') || begins_like_one(rest))) text = rest;
  return true;
}

// Takes off headers of loggers that no unwrapper takes off. The rest begins like a line of one of
// the tables, or is empty.
std::string_view without_header(std::string_view text, LineHeader& header) {
  constexpr int kMostParts = 6;
  for (int part = 0; part <= kMostParts; ++part) {
    text = without_blanks_in_front(text);
    if (begins_like_one(text)) return text;
    if (text.empty()) break;
    const bool taken = text.front() == '[' ? take_bracket(text, header)
                       : is_digit(text.front())
                           ? take_stamp(text, header)
                           : take_front(text, ">> ") || take_front(text, ": ") ||
                                 take_level(text) || take_dashes(text);
    if (!taken) break;
  }
  return {};
}

}  // namespace

bool may_be_training_line(std::string_view text) {
  LineHeader header;
  return !without_header(text, header).empty();
}

std::optional<TrainingLine> read_training_line(std::string_view text, bool cut) {
  LineHeader header;
  const std::string_view inner = without_header(text, header);
  if (inner.empty()) return std::nullopt;
  const Text told{inner, cut};
  std::optional<TrainingLine> line;
  if (inner.front() == '{')
    line = read_dictionary(told);
  else if (is_digit(inner.front()) || inner.starts_with("Epoch ") || inner.starts_with("Validati"))
    line = read_bar(inner);
  if (!line) line = read_step(told);
  if (!line) line = read_event(told);
  if (!line) line = read_script(told);
  if (!line) return std::nullopt;
  line->stamp = header.stamp;
  line->rank = header.rank;
  line->ranks = header.ranks;
  return line;
}

}  // namespace faultline
