// Measured bandwidths that are far below the rate of the link.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr double kFarUnder = 4.0 / 5;     // of the rate, of one adapter's test
constexpr double kFarUnderTcp = 1.0 / 2;  // of the rate: TCP has costs of its own
constexpr double kOneStream = 25;         // Gbit/s: one core does not always carry more
constexpr double kSmallMessage = 65536;
constexpr double kMiB = 8.0 * 1024 * 1024 / 1e9;  // MB/sec of perftest in Gbit/s

struct Measured {
  const PartRecord* record = nullptr;
  const LineRef* line = nullptr;
  std::string host;
  double gbits = 0;
};

// "400", "400 Gb/sec (4X NDR)", "100000Mb/s"
double gbits_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return unit.find('M') != std::string_view::npos && unit.find("Gb") == std::string_view::npos
             ? value / 1000
             : value;
}

double rate_of(const PartFacts& facts, const NetworkPort& port, const NamePatterns& fields) {
  for (const PartRecord* record : port.records)
    for (const PartSeries& series : record->values)
      if (matches_any(fields, normalised_field(facts.parts().text(series.name))))
        return gbits_in(series.last().value);
  return 0;
}

std::string host_of(const PartFacts& facts, const PartRecord& record) {
  std::string ran_on = facts.view.job.host_of(record.spoken_host, record.source);
  if (!ran_on.empty()) return ran_on;
  const std::string from = short_host(record.name("from"));
  const std::string by_address = facts.view.job.addresses().host_of_address(from);
  return by_address.empty() ? from : by_address;
}

Suspicion describe_bandwidth(const PartFacts& facts, const Measured& measured, std::string what,
                             double rate, Claim claim) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.job_ran_with_it = true;
  suspicion.since = measured.line->time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::performance_bandwidth_low;
  finding.severity = Severity::warning;
  suspicion.sure = claim;
  finding.title =
      fmt::format("{} measured {:.1f} Gb/s over a link of {:.0f} Gb/s", what, measured.gbits, rate);
  add_line(facts.view, measured.line, finding);
  finding.actions.push_back(
      {.what =
           "Measure other pairs, too, to see which end is slow; then compare its PCIe link, its "
           "port's rate and its error counters with those of the others.",
       .where = measured.host,
       .command = "ib_write_bw -d {nic} --report_gbits {peer}; ibstat; perfquery -x"});
  return suspicion;
}

// A column of perftest in Gbit/s, whatever it is counted in; what it calls MB are MiB.
std::optional<double> rdma_gbits(const PartFacts& facts, const PartRecord& record,
                                 std::string_view column) {
  const View& view = facts.view;
  if (const auto gbits = number_in(view, record, fmt::format("{}[Gb/sec]", column))) return gbits;
  for (const char* unit : {"MB", "MiB"})
    if (const auto mebi = number_in(view, record, fmt::format("{}[{}/sec]", column, unit)))
      return *mebi * kMiB;
  return std::nullopt;
}

// Whether the latest report has the column, and not only an earlier test.
bool is_of_last_report(const PartFacts& facts, const PartRecord& record, std::string_view column) {
  return std::ranges::any_of(record.values, [&](const PartSeries& series) {
    return facts.parts().text(series.name).starts_with(column) && series.last().line == record.last;
  });
}

// A port that is only known from the other end of its cable has no report of its own.
bool is_told_of_by(const NetworkPort& port, std::uint32_t source) {
  return !port.records.empty() && port.records.front()->source == source;
}

// By host and source: the only port with a device that the source reports there; nullptr: there are
// several.
using OnlyPorts = std::map<std::pair<std::string_view, std::uint32_t>, const NetworkPort*>;

OnlyPorts only_ports(const Ports& ports) {
  OnlyPorts only;
  for (const NetworkPort& port : ports.all()) {
    if (port.device.empty() || port.records.empty()) continue;
    const auto [known, is_new] = only.try_emplace({port.host, port.records.front()->source}, &port);
    if (!is_new) known->second = nullptr;
  }
  return only;
}

// The port that was measured; if none is named, the only port that the same source reports.
const NetworkPort* port_measured(const PartFacts& facts, const OnlyPorts& only,
                                 const Measured& measured) {
  const std::string_view device = measured.record->name("device");
  if (!device.empty()) return facts.ports.find_by_device(measured.host, device);
  const auto known = only.find({measured.host, measured.record->source});
  return known == only.end() ? nullptr : known->second;
}

// Large messages should be at least as fast as small ones.
void suspect_rdma_cliff(const PartFacts& facts, const Measured& measured, Suspicions& found) {
  const auto best = rdma_gbits(facts, *measured.record, "best BW average");
  if (!best || !is_of_last_report(facts, *measured.record, "best BW average") ||
      !is_cliff(measured.gbits, *best))
    return;
  Suspicion suspicion = slow_suspicion(facts.view, *measured.record,
                                       Cause::performance_bandwidth_low, Claim::test_cliff);
  suspicion.finding.title = fmt::format(
      "RDMA{}{} fell to {:.1f} Gb/s with messages of {} bytes, from {:.1f} with smaller ones",
      measured.host.empty() ? "" : " of ", measured.host, measured.gbits,
      text_in(facts.view, *measured.record, "#bytes"), *best);
  lay_on_host(facts.view, measured.host, suspicion);
  found.push_back(std::move(suspicion));
}

// ib_write_bw and its kin. Latencies and small messages say nothing about the link.
void suspect_rdma(const PartFacts& facts, const OnlyPorts& only, const PartRecord& record,
                  Suspicions& found) {
  const auto bytes = number_in(facts.view, record, "#bytes");
  const auto gbits = rdma_gbits(facts, record, "BW average");
  if (!bytes || *bytes < kSmallMessage || !gbits || *gbits <= 0) return;
  const Measured measured{.record = &record,
                          .line = record.last.get(),
                          .host = host_of(facts, record),
                          .gbits = *gbits};
  const NetworkPort* port = port_measured(facts, only, measured);
  if (port == nullptr) return suspect_rdma_cliff(facts, measured, found);
  const double rate = rate_of(facts, *port, facts.view.catalog.conditions.ports.rate);
  if (rate <= 0 || measured.gbits >= kFarUnder * rate)
    return suspect_rdma_cliff(facts, measured, found);
  Suspicion suspicion =
      describe_bandwidth(facts, measured, port->label(), rate, Claim::perftest_low);
  lay_on_ports(facts, {port}, suspicion);
  found.push_back(std::move(suspicion));
}

// The one speed of the host's interfaces; 0: none is known, or they have several. If no line names
// the host, the interfaces that the same source reports.
double speed_of_host(const PartFacts& facts, const std::string& host, const PartRecord& record) {
  static const NamePatterns kSpeed{"speed"};
  std::set<double> speeds;
  for (const std::size_t index : facts.ports.on(host)) {
    const NetworkPort& port = facts.ports.all()[index];
    if (!port.netdev.empty() && (!host.empty() || is_told_of_by(port, record.source)))
      if (const double speed = rate_of(facts, port, kSpeed); speed > 0) speeds.insert(speed);
  }
  return speeds.size() == 1 ? *speeds.begin() : 0;
}

std::optional<double> tcp_gbits(const PartFacts& facts, const PartRecord& record) {
  if (const auto bits = number_in(facts.view, record, "end / sum_received / bits_per_second"))
    return *bits / 1e9;
  const PartSeries* text = nullptr;
  for (const char* name : {"receiver / Bitrate", "sender / Bitrate", "Bitrate"})
    if (text == nullptr) text = facts.parts().find(record, name);
  if (text == nullptr || text_in(facts.view, record, "streams") == "several") return std::nullopt;
  const std::string& value = text->last().value;
  double number = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), number).ec != std::errc())
    return std::nullopt;
  if (value.find("Gbits") != std::string::npos) return number;
  if (value.find("Mbits") != std::string::npos) return number / 1e3;
  return value.find("Kbits") != std::string::npos ? std::optional(number / 1e6) : std::nullopt;
}

// By the host, or if it has no name, by the source.
using HostSpeeds = std::map<std::pair<std::string, std::uint32_t>, double>;

void suspect_tcp(const PartFacts& facts, const PartRecord& record, HostSpeeds& speeds,
                 Suspicions& found) {
  const auto gbits = tcp_gbits(facts, record);
  if (!gbits || *gbits <= 0) return;
  const auto speed_of = [&](const std::string& host) {
    const auto [known, is_new] = speeds.try_emplace({host, host.empty() ? record.source : 0});
    if (is_new) known->second = speed_of_host(facts, host, record);
    return known->second;
  };
  const std::string host = host_of(facts, record);
  double rate = speed_of(host);
  if (rate <= 0 && facts.view.job.host_of(record.spoken_host, record.source).empty())
    rate = speed_of({});
  if (rate <= 0) return;
  const bool many = text_in(facts.view, record, "streams") == "summed";
  const double expected = kFarUnderTcp * (many ? rate : std::min(rate, kOneStream));
  if (*gbits >= expected) return;
  const Measured measured{
      .record = &record, .line = record.last.get(), .host = host, .gbits = *gbits};
  std::string what = "iperf3";
  if (!host.empty()) what += " from " + host;
  if (const std::string_view to = record.name("to"); !to.empty()) what += fmt::format(" to {}", to);
  Suspicion suspicion = describe_bandwidth(facts, measured, what, rate, Claim::perftest_tcp_low);
  lay_on_host(facts.view, host, suspicion);
  found.push_back(std::move(suspicion));
}

// If TCP moves nothing for seconds, something stops it, whatever its rate is meant to be.
void suspect_silence(const PartFacts& facts, const PartRecord& record, Suspicions& found) {
  constexpr double kLeastSilent = 3;
  const double silent = number_in(facts.view, record, "silent intervals").value_or(0);
  if (silent < kLeastSilent) return;
  const std::string host = host_of(facts, record);
  const std::string_view to = record.name("to");
  Suspicion suspicion = slow_suspicion(facts.view, record, Cause::performance_bandwidth_low,
                                       Claim::perftest_tcp_silent);
  Finding& finding = suspicion.finding;
  finding.title =
      fmt::format("iperf3{}{}{}{} moved nothing at all in {:.0f} intervals",
                  host.empty() ? "" : " from ", host, to.empty() ? "" : " to ", to, silent);
  finding.actions = {fill_in(
      {.what = "See whether packets of full size get through: if a hop has a smaller MTU, the "
               "connection opens and then stalls.",
       .where = host,
       .command = "ping -c 3 -M do -s 8972 {peer}; ping -c 3 -M do -s 1472 {peer}; ss -ti"},
      {.fields = {{"peer", std::string(to)}}})};
  lay_on_host(facts.view, host, suspicion);
  found.push_back(std::move(suspicion));
}

}  // namespace

Suspicions suspect_bandwidth(const PartFacts& facts) {
  Suspicions found;
  const OnlyPorts only = only_ports(facts.ports);
  HostSpeeds speeds;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.tool == "perftest") suspect_rdma(facts, only, record, found);
    if (record.tool == "iperf3") {
      suspect_tcp(facts, record, speeds, found);
      suspect_silence(facts, record, found);
    }
  }
  return found;
}

}  // namespace faultline
