#include "faults/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "faults/doors.h"

namespace faultline::faults {
namespace {

constexpr std::array kPushed = {Door::json_lines, Door::loki,   Door::otlp,
                                Door::elastic,    Door::splunk, Door::json_list};

constexpr std::string_view kNote = "note ";
constexpr std::string_view kCall = "NCCL INFO AllReduce: ";
constexpr std::uint64_t kForms = 6;
constexpr std::uint64_t kCallForms = 2;  // the last forms are calls

// Lines of every kind that the service treats differently: one that no rule knows, one of the
// kernel, two of NCCL, and calls of a rank whose first line names it. The number makes each line
// unique.
std::string line_of(const SentSource& source, std::uint64_t number) {
  const std::size_t own = source.number;
  if (number == 0)
    return fmt::format(
        "n{0}:{1}:{1} [0] NCCL INFO ncclCommInitRank comm 0xa{0} rank {2} nranks {3} cudaDev 0 "
        "nvmlDev 0 busId 3b000 commId 0xfa{4} - Init COMPLETE",
        own, 1000 + own, source.rank, kRanksOfAJob, source.job.back());
  const std::uint64_t form = number % kForms;
  if (form >= kForms - kCallForms)
    return fmt::format(
        "n{0}:{1}:{1} [0] {2}opCount {3:x} sendbuff 0x7f0000000000 recvbuff 0x7f0000000000 count "
        "1024 datatype 7 op 0 root 0 comm 0xa{0} [nranks={4}] stream 0x55",
        own, 1000 + own, kCall, number / kForms * kCallForms + form - (kForms - kCallForms),
        kRanksOfAJob);
  switch (form) {
    case 0:
      return fmt::format("{}{:09} of {}: all is well", kNote, number, source.name);
    case 1:
      return fmt::format(
          "Mar  5 10:00:01 n{} kernel: [ 1000.123456] NVRM: Xid (PCI:0000:3b:00): 79, pid={}, GPU "
          "has fallen off the bus, line {:09} of {}.",
          own, 1000 + number, number, source.name);
    case 2:
      return fmt::format("n{0}:{1}:{1} [0] NCCL WARN line {2:09} of {3}", own, 1000 + own, number,
                         source.name);
    default:
      return fmt::format("n{0}:{1}:{1} [0] misc/socket.cc:123 NCCL WARN line {2:09} of {3}", own,
                         1000 + own, number, source.name);
  }
}

}  // namespace

std::string SentSource::host() const { return fmt::format("n{}", number); }

void SentSource::add_body(std::uint64_t new_lines) {
  const std::size_t begin = text.size();
  for (std::uint64_t i = 0; i < new_lines; ++i) {
    text += as_stored(*this, line_of(*this, lines++));
    text += '\n';
  }
  bodies.push_back({.begin = begin, .end = text.size()});
}

SentBody* SentSource::unacknowledged() {
  return bodies.empty() || bodies.back().acknowledged ? nullptr : &bodies.back();
}

std::size_t SentSource::acknowledged_bytes() const {
  const auto last = std::find_if(bodies.rbegin(), bodies.rend(),
                                 [](const SentBody& body) { return body.acknowledged; });
  return last == bodies.rend() ? 0 : last->end;
}

std::string_view SentSource::text_of(const SentBody& body) const {
  return std::string_view(text).substr(body.begin, body.end - body.begin);
}

Ledger Ledger::as_of(std::uint64_t journal_bytes) const {
  Ledger then = *this;
  for (SentSource& source : then.sources) {
    const auto open =
        std::find_if(source.bodies.begin(), source.bodies.end(), [&](const SentBody& body) {
          return !body.acknowledged || body.journal_bytes > journal_bytes;
        });
    if (open == source.bodies.end()) continue;
    open->acknowledged = false;
    source.bodies.erase(open + 1, source.bodies.end());
    source.text.resize(source.bodies.back().end);
    source.lines =
        static_cast<std::uint64_t>(std::count(source.text.begin(), source.text.end(), '\n'));
  }
  return then;
}

Ledger empty_ledger() {
  Ledger ledger;
  std::size_t pushed = 0;
  for (std::size_t client = 0; client < kClients; ++client)
    for (std::size_t i = 0; i < kSourcesOfClient; ++i) {
      SentSource source{.number = ledger.sources.size(),
                        .rank = client / kJobs * kSourcesOfClient + i,
                        .job = fmt::format("job{}", client % kJobs),
                        .name = fmt::format("rank{}-{}.log", client, i),
                        .says_offset = i == 1};
      if (i >= 2) {
        source.door = kPushed[pushed++ % kPushed.size()];
        source.name = fmt::format("{}/{}", source.host(), source.name);
      }
      ledger.sources.push_back(std::move(source));
    }
  return ledger;
}

std::vector<std::string> jobs_of(const Ledger& ledger) {
  std::vector<std::string> jobs;
  for (const SentSource& source : ledger.sources)
    if (!source.bodies.empty()) jobs.push_back(source.job);
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

LineKind kind_of(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  if (line.find(kNote) != line.npos) return LineKind::note;
  return line.find(kCall) == line.npos ? LineKind::fact : LineKind::call;
}

}  // namespace faultline::faults
