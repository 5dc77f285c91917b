#include "accuracy/baselines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <vector>

namespace faultline::accuracy {
namespace {

template <class See>
void for_lines(const std::string& text, See&& see) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    see(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
}

std::string host_of(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash));
}

std::optional<int> number_after(std::string_view text, std::string_view before, int base = 10) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  int value = 0;
  const char* from = text.data() + at + before.size();
  if (std::from_chars(from, text.data() + text.size(), value, base).ec != std::errc{})
    return std::nullopt;
  return value;
}

std::optional<int> rank_of_file(std::string_view name) { return number_after(name, "nccl.rank"); }

// The class that an expert thinks of when a line has this word.
struct Word {
  std::string_view word;
  std::string_view cause;
};
constexpr Word kWords[] = {
    {"fallen off the bus", "gpu.off_bus"},
    {"nvrm: xid", "gpu.hang"},
    {"sxid", "gpu.nvswitch_error"},
    {"out of memory", "host.oom_killed"},
    {"oom-killer", "host.oom_killed"},
    {"link down", "network.link_down"},
    {"port error", "network.link_down"},
    {"health", "network.nic_failure"},
    {"soft lockup", "host.cpu_hang"},
    {"not responding", "host.storage_stall"},
    {"panic", "host.down"},
    {"segfault", "software.rank_crashed"},
    {"illegal memory access", "software.gpu_memory_fault"},
    {"completion with error", "network.transport_error"},
    {"completion from peer", "network.transport_error"},
    {"connect to", "launch.connect_failed"},
    {"closed by", "network.peer_lost"},
    {"invalid", "software.invalid_usage"},
    {"duplicate gpu", "software.invalid_usage"},
    {"mismatch", "software.version_mismatch"},
    {"no space left", "host.shm_full"},
    {"finished reduction", "software.unused_parameters"},
    {"out of bounds", "corruption.wrong_results"},
    {"uncorrectable", "gpu.ecc_uncorrectable"},
    {"aer", "pcie.error"},
    {"memory", "host.memory_error"},
};

constexpr std::string_view kTroubles[] = {"error", "fail", " warn ", "fatal",    "xid",
                                          "panic", "oom",  "lockup", "segfault", "not responding"};

// grep -riE 'error|fail|...' | head -1, in the order of the files' names.
std::optional<Guess> first_error(const Files& files, const Catalog&) {
  for (const auto& [name, text] : files) {
    std::optional<Guess> guess;
    for_lines(text, [&](std::string_view line) {
      if (guess) return;
      std::string small(line);
      std::ranges::transform(small, small.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (std::ranges::none_of(kTroubles, [&](std::string_view word) {
            return small.find(word) != std::string::npos;
          }))
        return;
      guess = Guess{.cause = "", .host = host_of(name), .rank = rank_of_file(name)};
      for (const Word& word : kWords)
        if (guess->cause.empty() && small.find(word.word) != std::string::npos)
          guess->cause = word.cause;
    });
    if (guess) return guess;
  }
  return std::nullopt;
}

// Guesses the rank whose last opCount is the rarest among communicators of one size.
std::optional<Guess> minority(const Files& files, const Catalog&) {
  struct Stand {
    std::string host;
    int rank = 0;
    std::string count;
  };
  std::map<std::string, Stand> last;  // by process and communicator
  std::map<std::string, std::string> size_of;
  std::map<std::string, std::pair<std::string, int>> process_ranks;
  for (const auto& [name, text] : files) {
    for_lines(text, [&](std::string_view line) {
      const std::size_t nccl = line.find(" NCCL INFO ");
      if (nccl == std::string_view::npos) return;
      // host:pid:tid [dev] NCCL INFO
      const std::size_t bracket = line.rfind(" [", nccl);
      if (bracket == std::string_view::npos) return;
      const std::size_t begin = line.rfind(' ', bracket - 1);
      std::string_view process =
          line.substr(begin == std::string_view::npos ? 0 : begin + 1, bracket);
      process = process.substr(0, process.find(' '));
      const std::size_t colon = process.find(':');
      if (colon == std::string_view::npos) return;
      const std::string key(process.substr(0, process.find(':', colon + 1)));
      if (const auto rank = number_after(line, " rank "); rank && !process_ranks.contains(key))
        process_ranks[key] = {std::string(process.substr(0, colon)), *rank};
      const std::size_t count = line.find(": opCount ");
      const std::size_t comm = line.find(" comm ");
      if (count == std::string_view::npos || comm == std::string_view::npos) return;
      const std::string_view rest = line.substr(count + 10);
      const std::string_view size = line.substr(std::min(line.find("[nranks="), line.size()));
      Stand& stand = last[key + std::string(size.substr(0, size.find(']')))];
      stand.host = key.substr(0, key.find(':'));
      stand.count = std::string(rest.substr(0, rest.find(' ')));
      size_of[key + std::string(size.substr(0, size.find(']')))] =
          std::string(size.substr(0, size.find(']')));
      const auto known = process_ranks.find(key);
      stand.rank = known == process_ranks.end() ? -1 : known->second.second;
    });
  }
  // Lines name no communicator that ranks share, so those of one size are compared.
  std::map<std::string, std::map<std::string, std::vector<const Stand*>>> by_size;
  for (const auto& [key, stand] : last) by_size[size_of[key]][stand.count].push_back(&stand);
  for (const auto& [size, counts] : by_size) {
    if (counts.size() < 2) continue;
    const auto fewest =
        std::ranges::min_element(counts, {}, [](const auto& entry) { return entry.second.size(); });
    const Stand& one = *fewest->second.front();
    return Guess{.cause = "collective.rank_behind",
                 .host = one.host,
                 .rank = one.rank < 0 ? std::nullopt : std::optional(one.rank)};
  }
  return std::nullopt;
}

std::optional<Guess> last_xid(const Files& files, const Catalog& catalog) {
  std::optional<Guess> guess;
  for (const auto& [name, text] : files)
    for_lines(text, [&](std::string_view line) {
      const std::size_t at = line.find("NVRM: Xid (PCI:");
      if (at == std::string_view::npos) return;
      const auto code = number_after(line.substr(at), "): ");
      const XidMeaning* meaning = code ? catalog.xid(*code) : nullptr;
      guess =
          Guess{.cause = std::string(name_of(meaning != nullptr ? meaning->cause : Cause::none)),
                .host = host_of(name),
                .rank = {}};
    });
  return guess;
}

constexpr Baseline kBaselines[] = {
    {"first error", "the first line that grep finds for error, fail, WARN, Xid and the like",
     first_error},
    {"minority", "the rank whose last opCount differs from that of most ranks", minority},
    {"last Xid", "the GPU of the last Xid", last_xid},
};

template <class Value>
bool has(const std::vector<Value>& all, const Value& value) {
  return std::ranges::find(all, value) != all.end();
}

}  // namespace

std::span<const Baseline> baselines() { return kBaselines; }

Score judge_guess(const std::optional<Guess>& guess, const Wanted& wanted) {
  Score score;
  score.verdict = guess.has_value() != wanted.healthy();
  if (wanted.healthy()) {
    score.false_alarm = guess.has_value();
    score.first = score.third = score.culprit = !guess;
    return score;
  }
  if (!guess) {
    score.first = score.third = score.culprit = wanted.open;
    return score;
  }
  std::size_t named = 0;
  for (const WantedCause& cause : wanted.causes) {
    named += cause.name == guess->cause;
    const bool host =
        has(cause.subject.hosts, guess->host) || has(cause.may_name.hosts, guess->host);
    const bool rank = !guess->rank || has(cause.subject.ranks, *guess->rank) ||
                      has(cause.may_name.ranks, *guess->rank);
    score.culprit |= host && rank;
  }
  score.first = named > 0;
  score.third = named == wanted.causes.size() && named > 0;
  if (wanted.open) {
    score.first = score.third = guess->cause == "collective.rank_behind";
    score.culprit = has(wanted.not_wrong.hosts, guess->host);
  }
  return score;
}

}  // namespace faultline::accuracy
