#include "model/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace faultline {
namespace {

// Takes the number that the text begins with; -1: it begins with none, or too large a one.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() && number < kMaxRanks ? number : -1;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    const int step = first + 1 < ranks.size() ? ranks[first + 1] - ranks[first] : 1;
    while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    if (step != 1 && last - first < 2) last = first;  // two ranks do not make a series
    if (!text.empty()) text += ' ';
    if (first == last)
      fmt::format_to(std::back_inserter(text), "{}", ranks[first]);
    else if (step == 1)
      fmt::format_to(std::back_inserter(text), "{}-{}", ranks[first], ranks[last]);
    else
      fmt::format_to(std::back_inserter(text), "{}-{}/{}", ranks[first], ranks[last], step);
    first = last + 1;
  }
  return text;
}

std::vector<int> ranks_of(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    const int first = take_number(text);
    const int last = take(text, '-') ? take_number(text) : first;
    const int step = take(text, '/') ? take_number(text) : 1;
    if (first >= 0 && step > 0)
      for (int rank = first; rank <= last && std::ssize(ranks) < kMaxRanks; rank += step)
        ranks.push_back(rank);
    if (!take(text, ' ')) break;
  }
  return ranks;
}

std::vector<int> ranks_in_list(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty() && std::ssize(ranks) < kMaxRanks) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    const int rank = take_number(text);
    if (rank >= 0) ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace faultline
