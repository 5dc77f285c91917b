// Ports that count errors, waits and losses. A link is judged from both of its ends.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::size_t kMostTold = 3;
constexpr std::size_t kMostPortsNamed = 64;
constexpr std::size_t kLeastSiblings = 3;

// What one port counts that is a sign of one class of fault.
struct Sign {
  std::size_t port = 0;
  const CounterClass* of = nullptr;
  Level level = Level::nothing;
  std::vector<const Movement*> movements;  // the gravest first
};

double grew(const Movement& movement) {
  return movement.rate().value_or(static_cast<double>(movement.growth));
}

// How much each counter grew on the ports of all hosts, in ascending order.
class Siblings {
 public:
  explicit Siblings(const PartFacts& facts) {
    for (std::size_t i = 0; i < facts.moved.size(); ++i)
      if (facts.ports.all()[i].is_host_port())
        for (const Movement& movement : facts.moved[i])
          if (movement.counter->siblings > 0) grown_[key_of(movement)].push_back(grew(movement));
    for (auto& [key, grown] : grown_) std::ranges::sort(grown);
  }

  Level level_of(const Movement& movement) const {
    const CounterMeaning& counter = *movement.counter;
    const auto known = grown_.find(key_of(movement));
    if (static_cast<double>(movement.growth) < counter.least || known == grown_.end() ||
        known->second.size() <= kLeastSiblings)
      return Level::nothing;
    const double middle = known->second[known->second.size() / 2];
    return grew(movement) > counter.siblings * middle ? Level::suspect : Level::nothing;
  }

 private:
  // Rates are compared with rates, and growth without times with growth without times.
  using Key = std::pair<const CounterMeaning*, bool>;
  static Key key_of(const Movement& movement) {
    return {movement.counter, movement.hours.has_value()};
  }
  std::map<Key, std::vector<double>> grown_;
};

Level judged(const Siblings& siblings, const Movement& movement) {
  const CounterClass& of = *movement.counter->of;
  // Interfaces use some names of NVLink counters, too: "RX errors".
  if (of.finding == Cause::none || of.name == "nvlink") return Level::nothing;
  return movement.counter->siblings > 0 ? siblings.level_of(movement) : level_of(movement);
}

bool is_graver(const Movement* a, const Movement* b) {
  return std::make_pair(level_of(*a), a->growth) > std::make_pair(level_of(*b), b->growth);
}

// In the order of the ports.
std::vector<Sign> signs_of(const PartFacts& facts) {
  const Siblings siblings(facts);
  std::vector<Sign> signs;
  for (std::size_t port = 0; port < facts.moved.size(); ++port) {
    std::map<std::pair<Cause, std::string>, Sign> by_finding;
    for (const Movement& movement : facts.moved[port]) {
      const Level level = judged(siblings, movement);
      if (level == Level::nothing) continue;
      const CounterClass* of = movement.counter->of;
      Sign& sign = by_finding[{of->finding, of->names_no_part ? of->name : ""}];
      sign.port = port;
      if (sign.of == nullptr || level > sign.level) sign.of = of;
      sign.level = std::max(sign.level, level);
      sign.movements.push_back(&movement);
    }
    for (auto& [finding, sign] : by_finding) {
      std::ranges::stable_sort(sign.movements, is_graver);
      signs.push_back(std::move(sign));
    }
  }
  return signs;
}

std::string told(const Sign& sign) {
  std::vector<std::string> words;
  for (const Movement* movement : sign.movements)
    if (words.size() < kMostTold) words.push_back(in_words(*movement));
  return fmt::format("{}", fmt::join(words, "; "));
}

Sureness sureness_of_sign(const Sign& sign) {
  const Movement& movement = *sign.movements.front();
  Sureness sure = sign.of->finding == Cause::network_link_down ? Claim::reading_link_down
                  : sign.level == Level::faulty                ? Claim::reading_faulty
                                                               : Claim::reading_suspect;
  if (movement.order_unknown) sure.add(Ground::readings_unordered);
  if (!movement.hours) sure.add(Ground::readings_undated);
  if (movement.cleared) sure.add(Ground::counter_cleared);
  if (movement.since_clear) sure.add(Ground::read_once);
  return sure;
}

bool is_past(const Sign& sign) {
  return std::ranges::all_of(sign.movements, [](const Movement* m) { return m->before_job; });
}

// Whether none of them has risen any more for a while.
bool is_over(const PartFacts& facts, const Sign& sign) {
  return std::ranges::all_of(sign.movements, [&](const Movement* m) {
    return m->still && *m->still >= facts.view.catalog.counters->over_after();
  });
}

// A counter that rises slowly slows a job. It explains a hang only if no rank is behind, and only
// on a host that has members of a communicator of several hosts.
bool only_slows(const PartFacts& facts, const Sign& sign, const Finding& finding) {
  if (sign.level == Level::faulty || sign.of->finding == Cause::network_link_down) return false;
  return std::ranges::none_of(finding.subject.hosts, [&](const std::string& host) {
    return facts.view.hosts_in_a_stall.contains(host);
  });
}

Suspicion begun(const PartFacts& facts, const Sign& sign) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.since = sign.movements.front()->from->time;
  Finding& finding = suspicion.finding;
  finding.cause = sign.of->finding;
  finding.severity = sign.level == Level::faulty || finding.cause == Cause::network_link_down
                         ? Severity::error
                         : Severity::warning;
  suspicion.sure = sureness_of_sign(sign);
  if (is_over(facts, sign)) finding.state = FindingState::resolved;
  for (const Movement* movement : sign.movements) {
    add_line(facts.view, movement->from, finding);
    add_line(facts.view, movement->to, finding);
  }
  return suspicion;
}

bool is_watched(const PartFacts& facts, std::size_t port) {
  return std::ranges::any_of(facts.moved[port], [](const Movement& m) {
    return m.counter->of->finding == Cause::network_link_errors && !m.full_before;
  });
}

// What the other end of the cable counts: a hint at which end the fault is.
std::string of_other_end(const PartFacts& facts, const NetworkPort& port) {
  if (port.peer == kNoPort) return {};
  const std::string label = facts.ports.all()[port.peer].label();
  return is_watched(facts, port.peer) ? fmt::format("; {}, the other end, is clean", label)
                                      : fmt::format("; the other end is {}", label);
}

Suspicion describe_sign(const PartFacts& facts, const Sign& sign, const Sign* other_end) {
  const NetworkPort& port = facts.ports.all()[sign.port];
  Suspicion suspicion = begun(facts, sign);
  Finding& finding = suspicion.finding;
  std::vector<const NetworkPort*> ports{&port};
  if (other_end != nullptr) {
    const NetworkPort& peer = facts.ports.all()[other_end->port];
    ports.push_back(&peer);
    finding.title = fmt::format("The link between {} and {} has errors at both ends: {}; {}",
                                port.label(), peer.label(), told(sign), told(*other_end));
    for (const Movement* movement : other_end->movements)
      add_line(facts.view, movement->to, finding);
  } else {
    finding.title = fmt::format("{} {}: {}{}", port.label(), sign.of->says, told(sign),
                                of_other_end(facts, port));
  }
  lay_on_ports(facts, ports, suspicion);
  if (port.cabling != nullptr && (other_end != nullptr || !port.is_host_port()))
    add_line(facts.view, port.cabling->last.get(), finding);
  if (is_past(sign)) {
    finding.part_of_job = false;
    finding.title += ", before the job began";
  } else if (finding.state == FindingState::resolved) {
    finding.title += ", and no more since";
  }
  suspicion.job_ran_with_it = only_slows(facts, sign, finding);
  add_actions(sign.of->actions,
              finding.subject.hosts.size() == 1 ? finding.subject.hosts.front() : "", finding);
  return suspicion;
}

// Many ports of hosts count the same: that is the fabric, or the time between the readings.
Suspicion describe_all(const PartFacts& facts, const std::vector<const Sign*>& alike) {
  Suspicion suspicion = begun(facts, *alike.front());
  Finding& finding = suspicion.finding;
  std::vector<const NetworkPort*> ports;
  for (const Sign* sign : alike)
    if (ports.size() < kMostPortsNamed) ports.push_back(&facts.ports.all()[sign->port]);
  finding.title = fmt::format("{} {}: {}; and {} other ports like it", ports.front()->label(),
                              alike.front()->of->says, told(*alike.front()), alike.size() - 1);
  finding.count = alike.size();
  lay_on_ports(facts, ports, suspicion);
  suspicion.job_ran_with_it = only_slows(facts, *alike.front(), finding);
  add_actions(alike.front()->of->actions, "", finding);
  return suspicion;
}

const Sign* at_other_end(const PartFacts& facts, const std::vector<Sign>& signs, const Sign& sign) {
  const std::size_t peer = facts.ports.all()[sign.port].peer;
  if (peer == kNoPort) return nullptr;
  const auto of_peer = std::ranges::equal_range(signs, peer, {}, &Sign::port);
  const auto found = std::ranges::find_if(of_peer, [&](const Sign& other) {
    return other.of->finding == sign.of->finding && !other.of->names_no_part;
  });
  return found == of_peer.end() ? nullptr : &*found;
}

// A link with signs at both ends is reported once, from the host's end.
bool is_told_by_other_end(const PartFacts& facts, const Sign& sign, const Sign* other) {
  if (other == nullptr) return false;
  const bool here = facts.ports.all()[sign.port].is_host_port();
  const bool there = facts.ports.all()[other->port].is_host_port();
  return here == there ? other->port < sign.port : there;
}

void suspect_ports(const PartFacts& facts, const std::vector<Sign>& signs, Suspicions& found) {
  std::map<std::pair<Cause, bool>, std::vector<const Sign*>> by_finding;
  for (const Sign& sign : signs) {
    if (sign.of->names_no_part) continue;
    if (!is_told_by_other_end(facts, sign, at_other_end(facts, signs, sign)))
      by_finding[{sign.of->finding, is_past(sign)}].push_back(&sign);
  }
  for (auto& [finding, alike] : by_finding) {
    std::ranges::stable_sort(alike,
                             [](const Sign* a, const Sign* b) { return a->level > b->level; });
    if (alike.size() > kMostAlike && !is_past(*alike.front())) {
      found.push_back(describe_all(facts, alike));
      continue;
    }
    for (const Sign* sign : alike)
      found.push_back(describe_sign(facts, *sign, at_other_end(facts, signs, *sign)));
  }
}

bool is_of_job(const PartFacts& facts, const Sign& sign) {
  const NetworkPort& port = facts.ports.all()[sign.port];
  return owner_of_port(facts.view, *facts.nic_users, port).part_of_job() && !is_past(sign);
}

// Signs that say nothing about the port that counts them: the fault is elsewhere.
void suspect_no_part(const PartFacts& facts, const std::vector<Sign>& signs, Suspicions& found) {
  std::map<std::string, std::vector<const Sign*>> by_class;
  for (const Sign& sign : signs)
    if (sign.of->names_no_part && is_of_job(facts, sign)) by_class[sign.of->name].push_back(&sign);
  for (const auto& [name, alike] : by_class) {
    const Sign& first = *alike.front();
    const bool link_is_known = std::ranges::any_of(found, [&](const Suspicion& suspicion) {
      return suspicion.finding.cause == first.of->finding && suspicion.finding.part_of_job;
    });
    if (link_is_known) continue;
    Suspicion suspicion = begun(facts, first);
    Finding& finding = suspicion.finding;
    finding.severity = Severity::warning;
    suspicion.sure.add(Ground::no_part_named);
    finding.title = fmt::format("{} {}: {}", facts.ports.all()[first.port].label(), first.of->says,
                                told(first));
    if (alike.size() > 1)
      finding.title += fmt::format("; and {} other ports like it", alike.size() - 1);
    finding.count = alike.size();
    suspicion.job_ran_with_it = first.of->finding != Cause::network_transport_error;
    add_actions(first.of->actions, "", finding);
    found.push_back(std::move(suspicion));
  }
}

// --- One reading -------------------------------------------------------------------------------

struct OneReading {
  const CounterMeaning* counter = nullptr;
  std::string words;
  const LineRef* line = nullptr;
  bool full = false;  // the counter is at its maximum
  bool much = false;  // a large share of what the port counts in all
};

bool is_above(const std::string& text, double limit) {
  double value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  return !text.empty() && value > limit;
}

// Its share of what the port counts in all, if that is more than a sound port has.
std::optional<double> share_of_all(const View& view, const PartRecord& record,
                                   const CounterMeaning& counter, std::string_view spelling) {
  if (counter.of_all.empty()) return std::nullopt;
  const double all = number_in(view, record, counter.of_all).value_or(0);
  const double some = number_in(view, record, spelling).value_or(0);
  if (all <= 0 || some <= counter.most_share * all) return std::nullopt;
  return some / all;
}

std::vector<OneReading> single_readings(const PartFacts& facts, std::size_t index) {
  std::vector<OneReading> readings;
  for (const PartRecord* record : facts.ports.all()[index].records)
    for (const PartSeries& series : record->values) {
      const std::string& spelling = facts.parts().text(series.name);
      const CounterMeaning* counter = facts.view.catalog.counters->find(spelling);
      if (counter == nullptr || !counter->notable) continue;
      const bool moved = std::ranges::any_of(
          facts.moved[index], [&](const Movement& m) { return m.counter == counter; });
      if (moved || !is_above(series.last().value, *counter->notable)) continue;
      const CounterWidth width = facts.view.catalog.counters->width_of(*counter, record->tool);
      const bool full =
          width.saturates && is_above(series.last().value, static_cast<double>(width.most) - 1);
      const auto share = share_of_all(facts.view, *record, *counter, spelling);
      std::string words = fmt::format("{} is {}", spelling, series.last().value);
      if (full) words += ", the most it can hold";
      if (share) words += fmt::format(", {:.0f} % of {}", 100 * *share, counter->of_all);
      readings.push_back(
          {counter, std::move(words), series.last().line.get(), full, share.has_value()});
    }
  return readings;
}

using ToolAndSource = std::pair<std::string, std::uint32_t>;

// Reports of fabrics in which next to no port counts errors.
std::set<ToolAndSource> reports_of_sound_fabrics(const PartFacts& facts) {
  constexpr double kFewest = 20;
  constexpr double kMostOfAll = 0.02;
  std::set<ToolAndSource> sound;
  for (const PartRecord& fabric : facts.parts().records()) {
    if (fabric.kind != "fabric") continue;
    const double checked = number_in(facts.view, fabric, "ports checked").value_or(0);
    const double bad =
        number_in(facts.view, fabric, "ports have errors beyond threshold").value_or(0);
    if (checked >= kFewest && bad > 0 && bad <= std::max(1.0, kMostOfAll * checked))
      sound.emplace(fabric.tool, fabric.source);
  }
  return sound;
}

std::string command_to_read(const NetworkPort& port) {
  const std::string number = shell_word(port.port);
  if (!port.device.empty() && !port.port.empty())
    return fmt::format("perfquery -x -C {} -P {}", shell_word(port.device), number);
  if (!port.lid.empty() && !port.port.empty())
    return fmt::format("perfquery -x {} {}", shell_word(port.lid), number);
  if (!port.netdev.empty()) return fmt::format("ethtool -S {}", shell_word(port.netdev));
  return "perfquery -x";
}

// One value may be years old: it is mentioned, and accuses nobody. If no log tells of a job, three
// kinds are looked into: a full counter, a large share, and one of the few ports of a fabric that
// count at all.
void mention_single_readings(const PartFacts& facts, Suspicions& found) {
  const std::set<ToolAndSource> sound = reports_of_sound_fabrics(facts);
  for (std::size_t i = 0; i < facts.moved.size(); ++i) {
    const std::vector<OneReading> readings = single_readings(facts, i);
    if (readings.empty()) continue;
    const NetworkPort& port = facts.ports.all()[i];
    Suspicion suspicion;
    const bool full = std::ranges::any_of(readings, &OneReading::full);
    const bool is_one_of_many_sound = std::ranges::any_of(
        port.records,
        [&](const PartRecord* record) { return sound.contains({record->tool, record->source}); });
    const bool stands_out =
        !tells_of_a_job(facts.view) &&
        (full || std::ranges::any_of(readings, &OneReading::much) || is_one_of_many_sound);
    suspicion.verdict = stands_out ? Verdict::slow : Verdict::healthy;
    suspicion.since = readings.front().line->time;
    Finding& finding = suspicion.finding;
    finding.cause = readings.front().counter->of->finding;
    finding.severity = stands_out ? Severity::warning : Severity::info;
    suspicion.sure = !stands_out ? Claim::reading_once
                     : full      ? Claim::reading_full
                                 : Claim::reading_stands_out;
    std::vector<std::string> words;
    for (const OneReading& reading : readings) {
      words.push_back(reading.words);
      add_line(facts.view, reading.line, finding);
    }
    finding.title = fmt::format("{}: {}; one reading does not show when it rose", port.label(),
                                fmt::join(words, ", "));
    lay_on_ports(facts, {&port}, suspicion);
    finding.actions.push_back({.what = "Read the counters again after ten minutes of traffic: only "
                                       "counters that rise matter.",
                               .where = port.host,
                               .command = command_to_read(port)});
    found.push_back(std::move(suspicion));
  }
}

}  // namespace

Suspicions suspect_counters(const PartFacts& facts) {
  const std::vector<Sign> signs = signs_of(facts);
  Suspicions found;
  suspect_ports(facts, signs, found);
  suspect_no_part(facts, signs, found);
  mention_single_readings(facts, found);
  return found;
}

}  // namespace faultline
