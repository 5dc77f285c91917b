#include "rules/answer/coverage_hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "rules/answer/coverage.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/answer/pasteable.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using Hosts = std::vector<std::string>;

constexpr std::size_t kMostHosts = 16;  // named in one gap

// Who sent evidence of which kind, worked out once for each kind.
class Tellers {
 public:
  explicit Tellers(const View& view) : view_(view) {}

  // Which of these hosts gave no evidence of the kind. None, if there is some whose host is
  // unknown: it may be from any of them.
  Hosts lacking(const HostEvidence& evidence, const std::set<std::string>& hosts) {
    const auto [known, is_new] = told_.try_emplace(&evidence);
    std::set<std::string>& told = known->second;
    if (is_new) listen(evidence, told);
    if (told.contains("")) return {};
    Hosts lack;
    std::ranges::set_difference(hosts, told, std::back_inserter(lack));
    return lack;
  }

 private:
  void listen(const HostEvidence& evidence, std::set<std::string>& told) const {
    const auto& sources = view_.job.sources().all();
    for (std::uint32_t i = 0; i < sources.size(); ++i)
      if (std::ranges::any_of(sources[i].dialects,
                              [&](const auto& it) { return evidence.is_told_by(it.first); }))
        told.insert(view_.job.sources().host_of(i));
  }

  const View& view_;
  std::map<const HostEvidence*, std::set<std::string>> told_;
};

// "gpu-node-1, gpu-node-3"; "every host" for all hosts of the job.
std::string named(const Hosts& hosts, std::size_t all) {
  if (hosts.size() == all && all > 1) return "every host";
  const auto shown = static_cast<std::ptrdiff_t>(std::min(hosts.size(), kMostHosts));
  return fmt::format(
      "{}{}", fmt::join(hosts.begin(), hosts.begin() + shown, ", "),
      hosts.size() > kMostHosts ? fmt::format(" and {} more", hosts.size() - kMostHosts) : "");
}

MissingEvidence gap(const View& view, const HostEvidence& evidence, const Hosts& hosts,
                    std::size_t all, std::string why) {
  MissingEvidence missing{.what = fmt::format("{} of {}", evidence.what, named(hosts, all)),
                          .why = std::move(why),
                          .command = completed_command(evidence.command, {}),
                          .kind = evidence.kind,
                          .hosts = hosts};
  make_sent(view, evidence.what, hosts, missing);
  return missing;
}

std::set<std::string> set_of(const Hosts& hosts) { return {hosts.begin(), hosts.end()}; }

// Where ranks stopped, or all of them wait, and why that matters.
struct WhoStands {
  Lacking kind = Lacking::stopped;
  Hosts hosts;
  bool all_heard = false;  // all that were heard, not these
  std::string why;
};

// Ranks stopped in several places, and none is known to be the first: the reason may be at any
// host.
bool is_anybodys(const std::vector<Finding>& unexplained) {
  return std::ranges::count_if(unexplained, [](const Finding& finding) {
           return is(finding.cause, Trait::standstill) &&
                  finding.confidence < limits::least_to_blame;
         }) > 1;
}

WhoStands standstill_of(const Finding& finding) {
  const Hosts& hosts = finding.subject.hosts;
  if (finding.cause == Cause::collective_stalled)
    return {Lacking::stalled, hosts, hosts.empty(), "a call does not end and nothing says why"};
  if (finding.cause == Cause::launch_rank_missing)
    return {Lacking::stopped, hosts, hosts.empty(), "a rank did not come and nothing says why"};
  if (is(finding.cause, Trait::standstill))
    return {Lacking::stopped, hosts, false,
            fmt::format("{} stopped there and nothing says why",
                        finding.subject.ranks.empty()
                            ? std::string("a process")
                            : fmt::format("rank {}", ranges(finding.subject.ranks)))};
  // Old versions of NCCL do not say which host is the other end.
  const bool one_end = finding.cause == Cause::network_transport_error && hosts.size() == 1;
  if (is_of(finding.cause, Family::network) || finding.cause == Cause::launch_connect_failed)
    return {Lacking::stopped, hosts, one_end, "a connection failed, and nothing says why"};
  return {};
}

// Asks for more of something that was sent and says nothing.
MissingEvidence more_of(const View& view, const HostEvidence& evidence, const Hosts& hosts,
                        std::size_t all, const std::string& why) {
  MissingEvidence missing{.what = fmt::format("whole {} of {}", evidence.what, named(hosts, all)),
                          .why = fmt::format("what was sent may be only a part of it; {}", why),
                          .command = completed_command(evidence.again, {}),
                          .kind = evidence.kind,
                          .hosts = hosts};
  make_sent(view, evidence.what, hosts, missing);
  return missing;
}

bool rests_on(const View& view, const Finding& finding, const HostEvidence& evidence) {
  return std::ranges::any_of(finding.evidence, [&](const Evidence& line) {
    const SourceState* source = view.job.sources().find(line.source);
    return source != nullptr && std::ranges::any_of(source->dialects, [&](const auto& it) {
             return evidence.is_told_by(it.first);
           });
  });
}

}  // namespace

void make_sent(const View& view, std::string_view kind, const Hosts& hosts,
               MissingEvidence& missing) {
  missing.file = kind.substr(0, kind.find(' '));  // "kernel", "port": in front of the host's name
  missing.query = hosts.size() == 1 ? upload_query(view, "host", hosts.front())
                                    : upload_query_of_any_host(view);
  if (hosts.size() == 1) missing.file = shell_word(fmt::format("{}-{}", missing.file, hosts[0]));
}

std::vector<MissingEvidence> ask_why_it_stands(const View& view,
                                               const std::vector<Finding>& unexplained) {
  Tellers tellers(view);
  std::vector<MissingEvidence> missing;
  std::vector<MissingEvidence> more;
  std::set<std::string> asked;
  bool all_asked = false;
  const std::size_t all = view.hosts_heard.size();
  const bool anybodys = is_anybodys(unexplained);
  for (const Finding& finding : unexplained) {
    WhoStands stands = standstill_of(finding);
    if (anybodys && is(finding.cause, Trait::standstill))
      stands = {Lacking::stalled,
                {},
                true,
                "ranks stopped in several places, and nothing says where it began"};
    if (stands.all_heard && all_asked) continue;
    all_asked |= stands.all_heard;
    std::set<std::string> hosts = stands.all_heard ? view.hosts_heard : set_of(stands.hosts);
    std::erase_if(hosts, [&](const std::string& host) { return asked.contains(host); });
    if (hosts.empty()) continue;
    asked.insert(hosts.begin(), hosts.end());
    for (const HostEvidence& evidence : view.catalog.evidence) {
      if (!evidence.is_asked(stands.kind) || (evidence.network && all < 2)) continue;
      if (const Hosts lack = tellers.lacking(evidence, hosts); !lack.empty())
        missing.push_back(gap(view, evidence, lack, all,
                              evidence.is_asked(Lacking::stopped) ? stands.why : evidence.why));
      else if (!evidence.again.empty())
        more.push_back(more_of(view, evidence, {hosts.begin(), hosts.end()}, all, stands.why));
    }
  }
  std::ranges::move(more, std::back_inserter(missing));
  return missing;
}

std::vector<MissingEvidence> ask_what_was_not_looked_at(const View& view, Verdict verdict) {
  Tellers tellers(view);
  std::vector<MissingEvidence> missing;
  const std::set<std::string>& heard = view.hosts_heard;
  if (heard.empty()) return {};
  const bool healthy = verdict == Verdict::healthy;
  for (const HostEvidence& evidence : view.catalog.evidence) {
    if (!evidence.is_asked(healthy ? Lacking::healthy : Lacking::stopped) ||
        (evidence.network && heard.size() < 2))
      continue;
    if (const Hosts hosts = tellers.lacking(evidence, heard); !hosts.empty())
      missing.push_back(gap(view, evidence, hosts, heard.size(), evidence.why));
    else if (!healthy && !evidence.again.empty())
      missing.push_back(
          more_of(view, evidence, {heard.begin(), heard.end()}, heard.size(), evidence.why));
  }
  return missing;
}

std::vector<MissingEvidence> ask_for_second_witness(const View& view, const Finding& cause) {
  Tellers tellers(view);
  constexpr std::size_t kFew = 2;
  const std::size_t all = view.hosts_heard.size();
  const Hosts& subject = cause.subject.hosts;
  if (subject.empty() || subject.size() > kFew) return {};
  for (const HostEvidence& evidence : view.catalog.evidence) {
    if (std::ranges::find(evidence.bears_out, cause.cause) == evidence.bears_out.end() ||
        rests_on(view, cause, evidence))
      continue;
    const std::string why = fmt::format("it could confirm {}: {}", cause.cause, evidence.why);
    if (const Hosts hosts = tellers.lacking(evidence, {subject.begin(), subject.end()});
        !hosts.empty())
      return {gap(view, evidence, hosts, all, why)};
    if (!evidence.again.empty()) return {more_of(view, evidence, subject, all, why)};
  }
  return {};
}

}  // namespace faultline
