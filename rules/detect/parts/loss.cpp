// Paths that lose what is sent over them: pings without an answer, TCP segments that are sent
// again, tests of RDMA that fail.
#include <fmt/format.h>

#include <algorithm>

#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/signatures.h"

namespace faultline {
namespace {

constexpr double kLeastLost = 2;        // pings: the first waits for an address to be found
constexpr double kShareLost = 0.02;     // of pings
constexpr double kShareAgain = 0.01;    // of segments; a sound network sends 0.001 again
constexpr double kLeastAgain = 100;     // segments: fewer may be one moment's
constexpr double kAgainPerGB = 30;      // a burst at the start of a test sends ten again
constexpr double kSegmentBytes = 1448;  // of the smallest usual MTU

std::string to_whom(const PartRecord& record) {
  const std::string_view to = record.name("to");
  return std::string(to.empty() ? record.name("to_address") : to);
}

Suspicion describe_loss(const PartFacts& facts, const PartRecord& record, Cause cause,
                        Claim claim) {
  Suspicion suspicion = slow_suspicion(facts.view, record, cause, claim);
  lay_on_host(facts.view, facts.view.job.host_of(record.spoken_host, record.source), suspicion);
  return suspicion;
}

// Any network may show this: it accuses nobody.
void accuse_nobody_by(Suspicion& suspicion) {
  suspicion.verdict = Verdict::healthy;
  suspicion.finding.severity = Severity::info;
}

// --- Pings -------------------------------------------------------------------------------------

// Whether ping itself gives an error, or several sizes were tried: other rules judge those.
bool has_other_reason(const PartFacts& facts, const PartRecord& record) {
  if (facts.parts().find(record, "error") != nullptr) return true;
  const PartSeries* sizes = facts.parts().find(record, "bytes");
  return sizes != nullptr && std::ranges::any_of(sizes->samples, [&](const PartSample& sample) {
           return sample.value != sizes->samples.front().value;
         });
}

void suspect_pings(const PartFacts& facts, const PartRecord& record, Suspicions& found) {
  const auto pings = pings_in(facts.view, record);
  if (!pings || has_other_reason(facts, record)) return;
  const double lost = pings->sent - pings->received;
  if (lost < kLeastLost || lost < kShareLost * pings->sent) return;
  const bool silent = pings->received == 0;
  Suspicion suspicion =
      describe_loss(facts, record, silent ? Cause::network_peer_lost : Cause::network_link_errors,
                    silent ? Claim::path_silent : Claim::path_loses);
  const std::string to = to_whom(record);
  Finding& finding = suspicion.finding;
  finding.title =
      silent
          ? fmt::format("{} answered none of {:.0f} pings", to.empty() ? "A host" : to, pings->sent)
          : fmt::format("{:.0f} of {:.0f} pings{}{} were lost ({:.0f} %)", lost, pings->sent,
                        to.empty() ? "" : " to ", to, 100 * lost / pings->sent);
  if (silent && facts.view.got_to_work()) accuse_nobody_by(suspicion);
  const bool fabric = record.tool == "ibping";
  finding.actions = {
      {.what = silent && !fabric
                   ? "See whether the host is up, and whether a firewall drops pings."
                   : "Ping from other hosts, too, to see which end loses; then read the counters "
                     "of its port and of the switch port.",
       .where = {},
       .command = fabric ? "ibping -c 100 -L {lid}; perfquery -x; ibqueryerrors"
                         : "ping -c 100 -i 0.2 {peer}; ip -s -s link"}};
  found.push_back(std::move(suspicion));
}

// --- Segments that are sent again --------------------------------------------------------------

void add_advice_on_segments(Finding& finding) {
  finding.actions = {
      {.what = "Find the path: count them for each connection, and read drops and errors of the "
               "interfaces and switch ports on the way.",
       .where = {},
       .command = "ss -ti; nstat -az TcpOutSegs TcpRetransSegs; ip -s -s link"}};
}

// What was counted by a host or from a capture.
void suspect_counted(const PartFacts& facts, const PartRecord& record, Suspicions& found) {
  const auto sent = number_in(facts.view, record, "segments sent");
  const auto again = number_in(facts.view, record, "segments sent again");
  if (!sent || !again || *again < kLeastAgain || *again < kShareAgain * *sent) return;
  Suspicion suspicion =
      describe_loss(facts, record, Cause::network_congestion, Claim::much_sent_again);
  const bool since_start = record.kind == "host";
  suspicion.finding.title = fmt::format(
      "{:.2f} % of TCP segments were sent again ({:.0f} of {:.0f}{})", 100 * *again / *sent, *again,
      *sent, since_start ? ", since the host was started" : "");
  if (since_start) suspicion.sure.add(Ground::time_open);
  add_advice_on_segments(suspicion.finding);
  found.push_back(std::move(suspicion));
}

struct Sent {
  double bytes = 0;
  double again = 0;
};

// "33.1 GBytes"
double bytes_in(const std::string& text) {
  const double value = leading_number(text).value_or(0);
  for (const auto& [unit, factor] :
       {std::pair{"TBytes", 1024.0 * 1024 * 1024 * 1024}, std::pair{"GBytes", 1024.0 * 1024 * 1024},
        std::pair{"MBytes", 1024.0 * 1024}, std::pair{"KBytes", 1024.0}})
    if (text.ends_with(unit)) return value * factor;
  return 0;
}

std::optional<Sent> sent_in_test(const PartFacts& facts, const PartRecord& record) {
  const View& view = facts.view;
  if (const auto bytes = number_in(view, record, "end / sum_sent / bytes"))
    if (const auto again = number_in(view, record, "end / sum_sent / retransmits"))
      return Sent{*bytes, *again};
  for (const char* role : {"sender / ", ""}) {
    const auto again = number_in(view, record, fmt::format("{}Retr", role));
    const double bytes = bytes_in(text_in(view, record, fmt::format("{}Transfer", role)));
    if (again && bytes > 0) return Sent{bytes, *again};
  }
  return std::nullopt;
}

// iperf3 counts what it sent again; a small number means little.
void suspect_test(const PartFacts& facts, const PartRecord& record, Suspicions& found) {
  constexpr double kGB = 1e9;
  const auto sent = sent_in_test(facts, record);
  if (!sent || sent->bytes <= 0 || sent->again < kLeastAgain) return;
  const double share = sent->again * kSegmentBytes / sent->bytes;
  if (sent->again < kAgainPerGB * sent->bytes / kGB) return;
  Suspicion suspicion =
      describe_loss(facts, record, Cause::network_congestion, Claim::much_sent_again);
  const std::string to = to_whom(record);
  std::string rate = text_in(facts.view, record, "receiver / Bitrate");
  if (rate.empty()) rate = text_in(facts.view, record, "sender / Bitrate");
  if (rate.empty()) rate = text_in(facts.view, record, "Bitrate");
  suspicion.finding.title = fmt::format("iperf3{}{} sent {:.0f} segments again in {:.1f} GB{}{}",
                                        to.empty() ? "" : " to ", to, sent->again,
                                        sent->bytes / kGB, rate.empty() ? "" : ", at ", rate);
  if (share < kShareAgain) accuse_nobody_by(suspicion);
  add_advice_on_segments(suspicion.finding);
  found.push_back(std::move(suspicion));
}

// --- Tests of RDMA that ended with an error ----------------------------------------------------

void suspect_status(const PartFacts& facts, const PartRecord& record, Suspicions& found) {
  const std::string error = text_in(facts.view, record, "error");
  const auto match =
      facts.view.catalog.signatures->match(Remark{.dialect = "torch", .text = error});
  if (!match || match->signature->cause != Cause::network_transport_error) return;
  const auto status = match->fields.find("error");
  const bool is_unanswered = status == match->fields.end();
  Suspicion suspicion =
      describe_loss(facts, record, Cause::network_transport_error,
                    is_unanswered ? Claim::perftest_unanswered : Claim::perftest_refused);
  suspicion.verdict = Verdict::failed;
  Finding& finding = suspicion.finding;
  finding.severity = match->signature->severity;
  const std::string to = to_whom(record);
  finding.title = fmt::format(
      "A test over RDMA{}{} {}", to.empty() ? "" : " to ", to,
      is_unanswered
          ? "got no answer from its other end (status 12: retries exceeded)"
          : fmt::format("ended with an error: status {}",
                        std::string_view(status->second).substr(0, status->second.find(':'))));
  for (const Action& action : match->signature->actions)
    finding.actions.push_back(fill_in(action, advice_subject(finding.subject)));
  found.push_back(std::move(suspicion));
}

}  // namespace

Suspicions suspect_loss(const PartFacts& facts) {
  Suspicions found;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.tool == "ping" || record.tool == "ibping") suspect_pings(facts, record, found);
    if (record.tool == "tcp-statistics") suspect_counted(facts, record, found);
    if (record.tool == "iperf3") suspect_test(facts, record, found);
    if (record.tool == "perftest") suspect_status(facts, record, found);
  }
  return found;
}

}  // namespace faultline
