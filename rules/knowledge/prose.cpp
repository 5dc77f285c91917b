#include "rules/knowledge/prose.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace faultline {
namespace {

// What begins a comment, an item of a list, a row of a table, a line of a shell's trace.
constexpr std::array<std::string_view, 7> kMarks{"# ", "## ", "//", "- ", "* ", "+ ", "| "};
constexpr std::array<std::string_view, 12> kCommands{"echo",  "printf", "grep",  "egrep",
                                                     "rg",    "sed",    "awk",   "logger",
                                                     "raise", "assert", "catch", "except"};
// No program prints these words before a message (kBefore) or right after one (kAfter).
constexpr std::array<std::string_view, 13> kBefore{"you",  "if",      "when",   "whenever", "see",
                                                   "says", "saying",  "means",  "like",     "e.g.",
                                                   "such", "handles", "catches"};
constexpr std::array<std::string_view, 30> kAfter{
    "is",      "are",   "means",  "mean",    "was",      "were",      "says",    "tells",
    "tell",    "shows", "points", "usually", "often",    "typically", "happens", "occurs",
    "appears", "comes", "can",    "could",   "may",      "might",     "must",    "should",
    "which",   "error", "errors", "lines",   "messages", "indicates"};
// Anywhere in the sentence.
constexpr std::array<std::string_view, 5> kExplains{"means", "indicates", "happens", "occurs",
                                                    "appears"};
constexpr std::string_view kQuotes = "\"'`";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

template <std::size_t size>
bool holds(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string lower(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// Calls fn with each word, without the punctuation around it, until fn returns true.
template <class Fn>
bool any_word(std::string_view text, Fn fn) {
  while (!(text = without_blanks(text)).empty()) {
    const std::size_t size = std::min(text.find_first_of(" \t"), text.size());
    std::string_view word = text.substr(0, size);
    while (!word.empty() && (word.ends_with(',') || word.ends_with(':'))) word.remove_suffix(1);
    while (!word.empty() && word.starts_with('(')) word.remove_prefix(1);
    if (fn(word)) return true;
    text.remove_prefix(size);
  }
  return false;
}

// `$ grep -c 'ncclRemoteError' job.log`, and its trace, "+ grep ...", which the marks know.
bool is_command(std::string_view text) {
  if (text.starts_with("$ ") || text.starts_with("> ")) text = without_blanks(text.substr(2));
  return holds(kCommands, text.substr(0, text.find_first_of(" \t(")));
}

// Quoted in the middle of a sentence: see `Cuda failure 700` for
bool is_quoted(std::string_view before) {
  if (before.empty() || kQuotes.find(before.back()) == std::string_view::npos) return false;
  before.remove_suffix(1);
  if (before.find_first_not_of(" \t") == std::string_view::npos) return true;
  if (before.back() != ' ') return false;
  before.remove_suffix(1);
  return !before.empty() && (is_letter(before.back()) || before.back() == ',');
}

}  // namespace

bool is_talked_about(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMostSearched = 512;
  const std::string_view before = text.substr(0, std::min({begin, text.size(), kMostSearched}));
  const std::string_view line = without_blanks(text);
  if (std::ranges::any_of(kMarks, [&](std::string_view mark) { return line.starts_with(mark); }))
    return true;
  if (is_command(line) || is_quoted(before)) return true;
  if (any_word(before, [](std::string_view word) { return holds(kBefore, lower(word)); }))
    return true;
  std::string_view after = text.substr(std::min(end, text.size()));
  after.remove_prefix(std::min(after.find_first_not_of("\"'`"), after.size()));
  // A program may explain in the next sentence, but not in the first.
  const std::string_view sentence = after.substr(0, after.find(". "));
  if (any_word(sentence.substr(0, kMostSearched),
               [](std::string_view word) { return holds(kExplains, word); }))
    return true;
  if (!after.starts_with(' ')) return false;
  after = without_blanks(after);
  return holds(kAfter,
               after.substr(0, std::min(after.find_first_not_of("abcdefghijklmnopqrstuvwxyz"),
                                        after.size())));
}

void begin_with_a_capital(std::string& text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
}

void begin_words_with_a_capital(std::string& text) {
  for (const std::string_view article : {"a ", "an ", "the "})
    if (text.starts_with(article)) return begin_with_a_capital(text);
}

std::string in_a_sentence(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, several);
}

std::string host_in_words(std::string_view host) {
  return std::string(host.empty() ? "a host that no line names" : host);
}

}  // namespace faultline
