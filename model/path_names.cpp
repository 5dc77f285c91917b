#include "model/path_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "model/ranks.h"

namespace faultline {
namespace {

constexpr std::size_t kLongestHost = 64;  // Linux allows no longer name
constexpr std::size_t kMostFrames = 65536;
constexpr std::size_t kMostLikePaths = 4096;  // of one frame
constexpr std::size_t kMostAsked = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Words in names of files that say what the file contains.
bool is_word_of_logs(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"dmesg",   "kern",  "kernel",   "kmsg",   "syslog",    "messages", "journal", "journalctl",
       "console", "log",   "logs",     "stdout", "stderr",    "out",      "err",     "nccl",
       "debug",   "train", "training", "torch",  "torchrun",  "launcher", "nvidia",  "smi",
       "nvsmi",   "dcgm",  "dcgmi",    "ibstat", "perfquery", "ethtool",  "rdma",    "ras",
       "ncclras", "sel",   "ipmi",     "txt",    "json",      "xml",      "csv",     "gz",
       "zst",     "old",   "new",      "last",   "full",      "boot"});
  return std::ranges::find(kWords, lower(word)) != kWords.end();
}

// "dmesg-node-1.log" -> "node-1".
std::string_view without_words_of_logs(std::string_view name) {
  constexpr std::string_view kBetween = "-_.";
  for (bool again = true; std::exchange(again, false);) {
    const std::size_t front = name.find_first_of(kBetween);
    if (front != std::string_view::npos && is_word_of_logs(name.substr(0, front))) {
      name.remove_prefix(front + 1);
      again = true;
      continue;
    }
    const std::size_t back = name.find_last_of(kBetween);
    if (back != std::string_view::npos && is_word_of_logs(name.substr(back + 1))) {
      name.remove_suffix(name.size() - back);
      again = true;
    }
  }
  return is_word_of_logs(name) ? std::string_view() : name;
}

struct Component {
  std::string_view name;  // without words that say what the file contains
  std::size_t at = 0;     // in the path
  bool is_file = false;
};

std::vector<Component> components_of(std::string_view path) {
  std::vector<Component> all;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t slash = path.find('/', begin);
    const std::size_t end = std::min(slash, path.size());
    std::string_view name = path.substr(begin, end - begin);
    if (slash == std::string_view::npos) name = without_words_of_logs(name);
    if (!name.empty())
      all.push_back({name, static_cast<std::size_t>(name.data() - path.data()),
                     slash == std::string_view::npos});
    begin = end + 1;
  }
  return all;
}

// "gpu-node-12" -> "gpu-node-#". Empty: it has no number, or too few letters; attempts and ranks
// have numbered folders, too.
std::string shape_of(std::string_view name) {
  constexpr int kLeastLetters = 3;
  int letters = 0;
  int numbers = 0;
  std::string shape;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_digit(name[i])) {
      letters += is_letter_or_digit(name[i]) ? 1 : 0;
      shape.push_back(name[i++]);
      continue;
    }
    ++numbers;
    shape.push_back('#');
    while (i < name.size() && is_digit(name[i])) ++i;
  }
  return numbers > 0 && letters >= kLeastLetters ? shape : std::string();
}

bool has_digit(std::string_view name) { return std::ranges::any_of(name, is_digit); }

// "attempt-1", "run7": other things that people number.
bool is_numbered_otherwise(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"attempt", "restart", "retry",   "run",  "job",    "rank",     "epoch",
       "step",    "stage",   "trial",   "test", "case",   "incident", "ticket",
       "day",     "part",    "version", "xid",  "device", "dump"});
  return std::ranges::any_of(split(name, "-."), [&](std::string_view token) {
    const auto letters = std::ranges::find_if(token, is_digit) - token.begin();
    const std::string word = lower(token.substr(0, static_cast<std::size_t>(letters)));
    return std::ranges::find(kWords, word) != kWords.end();
  });
}

// Words for hosts, if a number follows.
bool is_word_of_hosts(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"node", "host", "server", "compute", "worker", "machine",
                                       "instance", "pod", "dgx", "hgx", "nid"});
  return std::ranges::any_of(kWords, [&](std::string_view known) { return word.ends_with(known); });
}

// "gpunode", "12" of "gpunode12"; the number is empty if none follows.
std::pair<std::string_view, std::string_view> word_and_number(std::string_view token) {
  const auto digits =
      std::ranges::find_if(token, [](char c) { return is_digit(c); }) - token.begin();
  return {token.substr(0, static_cast<std::size_t>(digits)),
          token.substr(static_cast<std::size_t>(digits))};
}

}  // namespace

bool may_be_a_host(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto is_allowed = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; };
  return name.size() <= kLongestHost && !is_numbered_otherwise(name) &&
         std::ranges::any_of(name, is_letter) && std::ranges::all_of(name, is_allowed);
}

namespace {

// "gpu-node-3", "ip-10-0-3-17"; text behind the number is not part of the host's name.
std::string host_within(std::string_view name) {
  const std::vector<std::string_view> tokens = split(name, "-");
  const auto end_of = [&](std::size_t token) {
    return static_cast<std::size_t>(tokens[token].data() - name.data()) + tokens[token].size();
  };
  const auto is_number = [&](std::size_t token) {
    return token < tokens.size() && !tokens[token].empty() &&
           std::ranges::all_of(tokens[token], is_digit);
  };
  if (tokens.size() >= 5 && tokens[0] == "ip" && is_number(1) && is_number(2) && is_number(3) &&
      is_number(4))
    return std::string(name.substr(0, end_of(4)));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [word, number] = word_and_number(tokens[i]);
    if (!is_word_of_hosts(lower(word))) continue;
    std::size_t last = i;
    // "hgx-h100-07"
    const bool with_model = i + 1 < tokens.size() && has_digit(tokens[i + 1]) && is_number(i + 2);
    if (number.empty()) last += with_model ? 2 : 1;
    if (number.empty() && !is_number(last)) continue;
    while (is_number(last + 1)) ++last;
    return std::string(name.substr(0, end_of(last)));
  }
  return {};
}

}  // namespace

std::string host_by_its_words(std::string_view path) {
  std::string host;
  for (const Component& component : components_of(path))
    // Names of hosts have no "_"; what stands before a "." is the host's short name.
    for (const std::string_view part : split(component.name, "_.")) {
      std::string named = host_within(without_words_of_logs(part));
      if (may_be_a_host(named)) host = std::move(named);
    }
  return host;
}

RankInName rank_in_words(std::string_view text) {
  constexpr std::string_view kWord = "rank";
  constexpr std::string_view kBetween = "-_=: ";
  constexpr std::size_t kMostBetween = 2;
  constexpr std::string_view kOfParts[] = {"group", "role", "parallel", "machine", "tp",
                                           "pp",    "dp",   "ep",       "cp",      "sp"};
  const std::string name = lower(text);
  for (std::size_t at = name.rfind(kWord); at != std::string::npos;
       at = at == 0 ? std::string::npos : name.rfind(kWord, at - 1)) {
    std::size_t begin = at + kWord.size();
    const std::size_t latest = std::min(name.size(), begin + kMostBetween);
    while (begin < latest && kBetween.find(name[begin]) != std::string_view::npos) ++begin;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    const std::string_view before = std::string_view(name).substr(0, at);
    const bool starts_word =
        before.empty() || !is_letter_or_digit(before.back()) || before.ends_with("mpi");
    std::string_view word = before.substr(0, before.find_last_not_of("-_. ") + 1);
    if (end == begin || !starts_word || word.ends_with("local") || word.ends_with("node")) continue;
    word.remove_prefix(word.find_last_of("-_. []()|,:/") + 1);
    if (std::ranges::find(kOfParts, word) != std::ranges::end(kOfParts)) continue;
    int rank = -1;
    const auto [stop, error] = std::from_chars(name.data() + begin, name.data() + end, rank);
    if (error == std::errc() && stop == name.data() + end && rank < kMaxRanks) return {rank, end};
  }
  return {};
}

RankInName rank_by_file_name(std::string_view path) {
  const std::size_t file = path.rfind('/') + 1;  // 0 if there is no folder
  RankInName found = rank_in_words(path.substr(file));
  if (found.rank >= 0) found.end += file;
  return found;
}

void HostNames::add(const std::string& host) {
  names_.insert(host);
  if (std::string shape = shape_of(host); !shape.empty()) shapes_.insert(std::move(shape));
}

std::string HostNames::known_in(std::string_view path) const {
  std::string best;
  const auto begins = [&](std::size_t at) {
    return is_letter_or_digit(path[at]) && (at == 0 || !is_letter_or_digit(path[at - 1]));
  };
  const auto ends = [&](std::size_t at) {
    return is_letter_or_digit(path[at - 1]) && (at == path.size() || !is_letter_or_digit(path[at]));
  };
  for (std::size_t begin = 0; begin < path.size(); ++begin) {
    if (!begins(begin)) continue;
    const std::size_t furthest = std::min(path.size(), begin + kLongestHost);
    for (std::size_t end = begin + best.size() + 1; end <= furthest && path[end - 1] != '/'; ++end)
      if (ends(end) && contains(path.substr(begin, end - begin)))
        best = path.substr(begin, end - begin);
  }
  return best;
}

std::string HostNames::numbered_like_one(std::string_view path) const {
  for (const Component& component : components_of(path))
    if (const std::string shape = shape_of(component.name);
        !shape.empty() && shapes_.contains(shape))
      return std::string(component.name);
  return {};
}

namespace {

std::string frame_of(std::string_view path, const Component& component) {
  std::string frame(path.substr(0, component.at));
  frame += '*';
  frame += path.substr(component.at + component.name.size());
  return frame;
}

}  // namespace

void LikePaths::add(std::string_view path) {
  for (const Component& component : components_of(path)) {
    if (!may_be_a_host(component.name)) continue;
    std::string frame = frame_of(path, component);
    if (by_frame_.size() == kMostFrames && !by_frame_.contains(frame)) return;
    std::set<std::string>& names = by_frame_[std::move(frame)];
    if (names.size() < kMostLikePaths) names.emplace(component.name);
  }
}

std::string LikePaths::host_in(std::string_view path, const HostNames& known) const {
  for (const Component& component : components_of(path)) {
    if (!may_be_a_host(component.name)) continue;
    const auto like = by_frame_.find(frame_of(path, component));
    if (like == by_frame_.end()) continue;
    std::size_t asked = 0;
    for (const std::string& name : like->second) {
      if (++asked > kMostAsked) break;
      if (name != component.name && known.contains(name) &&
          (has_digit(component.name) || !has_digit(name)))
        return std::string(component.name);
    }
  }
  return {};
}

}  // namespace faultline
