// The rank that wrote a dump, by the name of its file.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

#include "model/ranks.h"
#include "rules/state/flight.h"

namespace faultline {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int number_of(std::string_view digits) {
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && number < kMaxRanks ? number : -1;
}

// Removes the endings that were added to PyTorch's name.
std::string_view without_endings(std::string_view name) {
  constexpr std::string_view kEndings[] = {".gz",   ".zst",    ".json", ".pickle", ".pkl",
                                           ".dump", ".bin",    ".dat",  ".txt",    ".trace",
                                           ".log",  ".tar.gz", ".tgz",  ".tar"};
  for (bool again = true; std::exchange(again, false);) {
    for (const std::string_view ending : kEndings) {
      if (!name.ends_with(ending)) continue;
      name.remove_suffix(ending.size());
      again = true;
    }
  }
  return name;
}

// The digits after the last "rank", "rank_", "rank-" or "rank=".
std::string_view behind_rank(std::string_view name) {
  for (std::size_t at = name.rfind("rank"); at != std::string_view::npos && at < name.size();
       at = at == 0 ? std::string_view::npos : name.rfind("rank", at - 1)) {
    std::string_view rest = name.substr(at + 4);
    if (rest.starts_with('_') || rest.starts_with('-') || rest.starts_with('='))
      rest.remove_prefix(1);
    const auto end = std::ranges::find_if_not(rest, is_digit) - rest.begin();
    if (end > 0) return rest.substr(0, static_cast<std::size_t>(end));
  }
  return {};
}

}  // namespace

int rank_in_name(std::string_view name) {
  // The default name of a source is the sender's address.
  if (name.starts_with("host/") && name.find('/', 5) == std::string_view::npos) return -1;
  if (const std::size_t version = name.rfind('#'); version != std::string_view::npos)
    if (std::ranges::all_of(name.substr(version + 1), is_digit)) name = name.substr(0, version);
  if (const std::size_t folder = name.rfind('/'); folder != std::string_view::npos)
    name.remove_prefix(folder + 1);
  name = without_endings(name);
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });

  const auto first =
      std::find_if_not(lower.rbegin(), lower.rend(), is_digit).base() - lower.begin();
  const std::string_view digits = std::string_view(lower).substr(static_cast<std::size_t>(first));
  const std::string_view before = std::string_view(lower).substr(0, lower.size() - digits.size());
  const std::string_view called = behind_rank(lower);
  constexpr std::string_view kDumps[] = {"rank", "dump", "trace", "flight", "fr_", "nccl"};
  const bool named_as_dump = std::ranges::any_of(
      kDumps, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
  const bool counts = before.ends_with("of") || before.ends_with("of_") || before.ends_with("of-");
  const bool apart = before.empty() || before.back() == '_' || before.back() == '-' ||
                     std::isalpha(static_cast<unsigned char>(before.back())) != 0;
  if (!digits.empty() && apart && !counts && (named_as_dump || before.empty()))
    return number_of(digits);
  return called.empty() ? -1 : number_of(called);
}

}  // namespace faultline
