#include "rules/knowledge/key_lines.h"

#include <algorithm>
#include <array>

namespace faultline {
namespace {

constexpr std::string_view kKeyEnds = "-----END ";
constexpr std::string_view kKeyBegins = "-----BEGIN ";
constexpr std::string_view kKey = "PRIVATE KEY";

// The run of letters at the end of a line; before it may stand a label or a timestamp.
std::string_view last_run(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  std::size_t begin = line.size();
  while (begin > 0 && kLettersOfAKey.has(line[begin - 1])) --begin;
  // A letter after a backslash is of an escape, not of the run.
  if (begin > 0 && line[begin - 1] == '\\' && begin < line.size()) ++begin;
  return line.substr(begin);
}

// Whether the run looks like a line of a key whose first line was not seen: long, with small and
// capital letters and digits.
bool reads_like_a_key(std::string_view run, std::size_t least = 60) {
  constexpr std::string_view kStars = "********";
  if (run.size() < kStars.size()) return false;
  while (run.ends_with('=')) run.remove_suffix(1);
  if (run.find('=') != run.npos) return false;  // a name and its value
  if (run.starts_with(kStars)) return true;     // a part of it is hidden already
  const auto any = [&](char first, char last) {
    return std::ranges::any_of(run, [&](char c) { return c >= first && c <= last; });
  };
  return run.size() >= least && any('g', 'z') && any('G', 'Z') && any('0', '9') &&
         run.find("//") == run.npos;
}

// Whether the run may be of a key, whose last line is shorter than the others. False: it is the end
// of a line of something else that came in between.
bool may_end_a_key(std::string_view run, std::string_view line) {
  constexpr std::size_t kLongestWord = 20;
  const std::size_t before = line.size() - run.size();
  if (run.size() > kLongestWord || run.ends_with('=') || run.find('*') != run.npos) return true;
  if (before > 0 && ByteSet(".,-_%(").has(line[before - 1])) return false;
  const auto all = [&](char first, char last) {
    return std::ranges::all_of(run, [&](char c) { return c >= first && c <= last; });
  };
  return !all('a', 'z') && !all('A', 'Z') && !all('0', '9') &&
         !(run.front() <= 'Z' && run.front() >= 'A' &&
           std::ranges::all_of(run.substr(1), [](char c) { return c >= 'a' && c <= 'z'; }));
}

// The lines of a key that stand in quotes or before an escaped end of line, if `fits` says so.
// Looks only at every `stride`-th byte, because the line may be long.
template <class Fits>
std::vector<std::string_view> long_runs(std::string_view line, std::size_t stride, Fits fits) {
  std::vector<std::string_view> runs;
  for (std::size_t at = stride; at < line.size(); at += stride) {
    if (!kLettersOfAKey.has(line[at])) continue;
    std::size_t begin = at;
    while (begin > 0 && kLettersOfAKey.has(line[begin - 1])) --begin;
    std::size_t end = at;
    while (end < line.size() && kLettersOfAKey.has(line[end])) ++end;
    // A letter after a backslash is of an escape, not of the run.
    if (begin > 0 && line[begin - 1] == '\\' && begin < end) ++begin;
    const bool is_alone = (begin == 0 || ByteSet("\"' nrt").has(line[begin - 1])) &&
                          (end == line.size() || ByteSet("\"' \\").has(line[end]));
    const std::string_view run = line.substr(begin, end - begin);
    if (is_alone && fits(run)) runs.push_back(run);
    at = std::max(at, end);
  }
  return runs;
}

// The message in a record of JSON, if all of it is letters of a key.
std::string_view message_of_letters(std::string_view line) {
  constexpr std::array<std::string_view, 9> kFields{"log",  "message", "msg",  "MESSAGE", "Message",
                                                    "line", "text",    "body", "content"};
  const auto skipped = [&](std::size_t at, const ByteSet& bytes) {
    while (at < line.size() && bytes.has(line[at])) ++at;
    return at;
  };
  for (const std::string_view field : kFields)
    for (std::size_t at = line.find(field); at != line.npos; at = line.find(field, at + 1)) {
      const std::size_t colon = skipped(at + field.size(), ByteSet("\\\" "));
      if (at == 0 || line[at - 1] != '"' || colon >= line.size() || line[colon] != ':') continue;
      const std::size_t begin = skipped(colon + 1, ByteSet("\\\" "));
      const std::size_t end = skipped(begin, kLettersOfAKey);
      if (end > begin && end < line.size() && (line[end] == '"' || line[end] == '\\'))
        return line.substr(begin, end - begin);
    }
  return {};
}

}  // namespace

bool opens_a_key(std::string_view line) {
  if (line.find(kKey) == line.npos) return false;  // quick: true of most lines
  const std::size_t begin = line.rfind(kKeyBegins);
  return begin != line.npos && line.find(kKey, begin) != line.npos &&
         line.find(kKeyEnds, begin) == line.npos;
}

bool may_be_between_lines(std::string_view line) {
  return !last_run(line).empty() || line.find_first_not_of("\t\r ") == line.npos;
}

bool ends_a_key(std::string_view line) { return line.find(kKeyEnds) != line.npos; }

std::vector<std::string_view> letters_of_a_key(std::string_view line, bool in_key) {
  if (const std::string_view run = last_run(line); !run.empty()) {
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (in_key ? may_end_a_key(run, line) : reads_like_a_key(run)) return {run};
    return {};
  }
  if (!in_key && !line.starts_with('{')) return {};
  if (!in_key)
    return long_runs(line, 60, [](std::string_view run) {
      return (run.size() == 64 || run.size() == 70 || run.size() == 76) && reads_like_a_key(run);
    });
  constexpr std::size_t kLeast = 40;
  std::vector<std::string_view> runs =
      long_runs(line, kLeast, [](std::string_view run) { return reads_like_a_key(run, kLeast); });
  if (const std::string_view last = message_of_letters(line); !last.empty()) runs.push_back(last);
  return runs;
}

}  // namespace faultline
