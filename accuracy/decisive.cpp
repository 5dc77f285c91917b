#include "accuracy/decisive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace faultline::accuracy {
namespace {

// A kind of simulated file, and the words with which missing evidence asks for it: one is enough.
struct Kind {
  std::string_view file;
  std::string_view asked[3];
};
constexpr Kind kKinds[] = {
    {"nccl_trace", {"Flight Recorder", "TORCH_NCCL_TRACE_BUFFER_SIZE"}},
    {"nccl", {"NCCL log", "NCCL_DEBUG"}},
    {"all_reduce_perf", {"all_reduce_perf"}},
    {"trace_rank", {"profile"}},
    {"straggler-report", {"to a barrier"}},
    {"dmesg", {"kernel log", "dmesg"}},
    {"kern.log", {"kernel log", "dmesg"}},
    {"journal-k", {"kernel log", "dmesg"}},
    {"perfquery", {"perfquery"}},
    {"ethtool", {"ethtool"}},
    {"ibstat", {"ibstat"}},
    {"rdma-link", {"rdma link"}},
    {"nvidia-smi", {"nvidia-smi -q"}},
    {"ip-link", {"ip link", "ip -br link"}},
    {"df", {"df "}},
};

const Kind* kind_of(std::string_view source) {
  const std::string_view name = source.substr(source.rfind('/') + 1);
  for (const Kind& kind : kKinds)
    if (name.find(kind.file) != std::string_view::npos) return &kind;
  return nullptr;
}

bool is_nccl(std::string_view source) {
  const Kind* kind = kind_of(source);
  return kind != nullptr && kind->file == "nccl";
}

// gpu-node-3/dmesg.txt -> gpu-node-3; empty: the file belongs to all hosts.
std::string_view host_of(std::string_view source) {
  const std::size_t slash = source.find('/');
  return slash == std::string_view::npos ? std::string_view() : source.substr(0, slash);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A text with gpu-node-10 does not name gpu-node-1.
bool names(std::string_view text, std::string_view host) {
  for (std::size_t at = text.find(host); at != std::string_view::npos;
       at = text.find(host, at + 1)) {
    const std::size_t end = at + host.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

// Whether a text such as "NCCL log of rank 3, 5 to 8" names all these ranks.
bool names_all(std::string_view text, const std::vector<int>& ranks) {
  std::size_t at = text.find("of rank ");
  if (at == std::string_view::npos || ranks.empty()) return false;
  std::set<int> named;
  std::optional<int> from;
  for (text.remove_prefix(at + 8); !text.empty();) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    for (int rank = from.value_or(number); rank <= number; ++rank) named.insert(rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    from.reset();
    if (text.starts_with(" to ")) {
      from = number;
      text.remove_prefix(4);
    } else if (text.starts_with(", ")) {
      text.remove_prefix(2);
    }
  }
  return std::ranges::all_of(ranks, [&](int rank) { return named.contains(rank); });
}

std::string without_lines(const std::string& text, auto&& is_taken) {
  std::string rest;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (!is_taken(++number, line)) rest += line;
    at = end;
  }
  return rest;
}

// The part of a line that names its process: "[rank3]", or "gpu-node-1:4711:" of
// "gpu-node-1:4711:4900 [3] NCCL INFO". With whole_host only the host: "gpu-node-1:".
std::string speaker_of(std::string_view line, bool whole_host) {
  if (const std::size_t at = line.find("[rank"); at != std::string_view::npos)
    return std::string(line.substr(at, line.find(']', at) + 1 - at));
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t device = line.find(" [");
  if (device == std::string_view::npos) return {};
  std::size_t end = line.find_last_not_of(kDigits, device - 1);  // the colon before the thread
  for (int colons = 0; end != std::string_view::npos && line[end] == ':'; ++colons) {
    if (colons == (whole_host ? 1 : 0)) {
      const std::size_t before = line.find_last_of(" \t\"|>", end);
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      return std::string(line.substr(begin, end + 1 - begin));
    }
    end = line.find_last_not_of(kDigits, end - 1);
  }
  return {};
}

struct Rest {
  Files files;
  std::string source;  // the source that lost lines; empty: nothing was removed
  std::string host;    // its host; empty: the hosts of the cause
};

Rest without_source(const Files& files, const Finding& cause) {
  const Evidence& line = cause.evidence.front();
  Rest rest{.files = files, .source = line.source, .host = std::string(host_of(line.source))};
  const bool whole_host = cause.subject.ranks.empty();
  const bool whole_job = whole_host && cause.subject.hosts.empty();
  if (!is_nccl(line.source)) {
    const Kind* kind = kind_of(line.source);
    std::erase_if(rest.files, [&](const auto& file) {
      return file.first == line.source || (whole_job && kind_of(file.first) == kind);
    });
    if (whole_job) rest.host.clear();
  } else if (rest.host.empty()) {  // a log of all hosts
    const std::string speaker = speaker_of(line.text, whole_host);
    if (speaker.empty()) return {};
    std::string& log = rest.files[line.source];
    log = without_lines(log, [&](std::uint64_t, std::string_view it) { return has(it, speaker); });
    if (const std::size_t colon = speaker.find(':'); colon != std::string::npos)
      rest.host = speaker.substr(0, colon);
  } else if (whole_host) {
    std::erase_if(rest.files, [&](const auto& file) {
      return host_of(file.first) == rest.host && is_nccl(file.first);
    });
  } else {
    rest.files.erase(line.source);
  }
  if (rest.files.empty()) return {};
  return rest;
}

// Whether a line itself says what is wrong. Calls, settings and tables of tools do not.
bool speaks_for_itself(const Evidence& line) {
  const Kind* kind = kind_of(line.source);
  if (kind == nullptr) return false;
  if (kind->asked[0] == "kernel log") return true;
  return kind->file == "nccl" && (has(line.text, "NCCL WARN") || has(line.text, "[rank"));
}

// Removes more lines from the rest. False: the first line of the evidence does not speak for
// itself.
bool take_lines(const Finding& cause, Rest& rest) {
  const Evidence& first = cause.evidence.front();
  if (!speaks_for_itself(first)) return false;
  std::map<std::string, std::set<std::uint64_t>> taken;
  for (const Evidence& line : cause.evidence)
    if (speaks_for_itself(line)) taken[line.source].insert(line.line);
  for (const auto& [source, numbers] : taken) {
    std::string& text = rest.files[source];
    text = without_lines(
        text, [&](std::uint64_t number, std::string_view) { return numbers.contains(number); });
  }
  return true;
}

// An error that every rank of the job reports, such as an exception that all raise: no single
// source decides it, and without all of their sources nothing is left.
bool is_said_by_all(const Diagnosis& diagnosis, const Finding& cause) {
  const Subject& all = cause.subject;
  const auto hosts = std::ranges::count_if(
      diagnosis.coverage, [](const HostCoverage& host) { return !host.ranks.empty(); });
  return hosts > 1 && std::cmp_greater_equal(all.hosts.size(), hosts) &&
         std::cmp_greater_equal(all.ranks.size(), diagnosis.ranks.seen) &&
         speaks_for_itself(cause.evidence.front());
}

bool same(const Finding& a, const Finding& b) {
  return a.cause == b.cause &&
         (a.subject.ranks == b.subject.ranks || a.subject.hosts == b.subject.hosts);
}

// Accepts any ranks and hosts: some of those that reported it may be gone.
const Finding* stated_by_some(const Diagnosis& diagnosis, const Finding& wanted) {
  const auto found = std::ranges::find(diagnosis.root_causes, wanted.cause, &Finding::cause);
  return found == diagnosis.root_causes.end() ? nullptr : &*found;
}

// nullptr: the diagnosis does not state it.
const Finding* stated(const Diagnosis& diagnosis, const Finding& wanted) {
  for (const Finding& finding : diagnosis.root_causes)
    if (same(finding, wanted)) return &finding;
  return nullptr;
}

bool asks_for(const MissingEvidence& gap, const Rest& rest, const Finding& cause,
              const std::vector<int>& ranks) {
  const Kind* kind = kind_of(rest.source);
  if (kind == nullptr) return false;
  const std::string text = gap.what + "\n" + gap.command;
  const auto is_asked = [&](std::string_view words) { return !words.empty() && has(text, words); };
  // The kernel of a host reports such faults as NCCL does, so asking for its log counts.
  const bool of_a_part = is_of(cause.cause, {faultline::Family::network, faultline::Family::host});
  if (std::ranges::none_of(kind->asked, is_asked) && !(of_a_part && has(text, "kernel log")))
    return false;
  std::vector<std::string> hosts = cause.subject.hosts;
  if (!rest.host.empty()) hosts = {rest.host};
  return has(gap.what, "every rank") || has(gap.what, "every host") || names_all(gap.what, ranks) ||
         std::ranges::any_of(hosts, [&](const std::string& host) { return names(text, host); });
}

// Ranks that the first diagnosis saw and the second did not.
std::vector<int> ranks_gone(const Diagnosis& before, const Diagnosis& after) {
  std::set<int> gone;
  for (const HostCoverage& host : before.coverage)
    gone.insert(host.ranks.begin(), host.ranks.end());
  for (const HostCoverage& host : after.coverage)
    for (const int rank : host.ranks) gone.erase(rank);
  return {gone.begin(), gone.end()};
}

std::string in_short(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.root_causes)
    text += fmt::format("{} {:.2f}, ", finding.cause, finding.confidence);
  text += boost::describe::enum_to_string(diagnosis.verdict, "?");
  for (const MissingEvidence& missing : diagnosis.missing_evidence) text += "; " + missing.what;
  return text;
}

}  // namespace

WithoutDecisive without_decisive(const Doctor& doctor, const Files& files,
                                 const Diagnosis& diagnosis, Taken taken) {
  WithoutDecisive result;
  if (diagnosis.root_causes.empty()) return result;
  const Finding& cause = diagnosis.root_causes.front();
  if (cause.evidence.empty() || !files.contains(cause.evidence.front().source)) return result;
  Rest rest;
  Diagnosis without;
  const bool by_all = is_said_by_all(diagnosis, cause);
  if (taken == Taken::source) {
    if (by_all) return result;
    rest = without_source(files, cause);
    if (rest.source.empty()) return result;
    without = doctor.diagnose(rest.files);
  } else {
    rest = {.files = files, .source = cause.evidence.front().source, .host = {}};
    without = diagnosis;
    // A finding shows only some of the lines that say the same: repeat until none is left.
    constexpr int kMostRounds = 200;
    int rounds = 0;
    for (const Finding* said = &cause; said != nullptr && rounds < kMostRounds; ++rounds) {
      if (!take_lines(*said, rest)) break;
      without = doctor.diagnose(rest.files);
      said = by_all ? stated_by_some(without, cause) : stated(without, cause);
    }
    if (rounds == 0) return result;
  }
  result.source = rest.source;
  const Finding* still = stated(without, cause);
  std::vector<int> ranks = ranks_gone(diagnosis, without);
  // Old logs rarely name the rank of a process. Then use the ranks that the cause no longer names.
  if (ranks.empty() && still != nullptr)
    std::ranges::set_difference(cause.subject.ranks, still->subject.ranks,
                                std::back_inserter(ranks));
  if (ranks.empty()) ranks = cause.subject.ranks;
  result.less_sure = still == nullptr || still->confidence < cause.confidence;
  result.asked_for = std::ranges::any_of(
      without.missing_evidence,
      [&](const MissingEvidence& missing) { return asks_for(missing, rest, cause, ranks); });
  result.left = fmt::format("{} {:.2f} -> {}", cause.cause, cause.confidence, in_short(without));
  return result;
}

}  // namespace faultline::accuracy
