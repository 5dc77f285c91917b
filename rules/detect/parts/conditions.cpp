// Words and levels that mean something by themselves: conditions.yaml lists them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/detect/parts/facts.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr double kAtWork = 10;  // percent
constexpr double kLeastHours = 1.0 / 6;
constexpr double kHoursIfUnknown = 24;

std::optional<double> whole_number(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin > 0 && text[begin - 1] == '-' ? begin - 1 : begin);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

std::uint64_t mask_in(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

bool contains_any(const std::vector<std::string>& words, const std::string& value) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return value.find(word) != std::string::npos; });
}

bool is_one_of(const std::vector<std::string>& words, const std::string& value) {
  return std::ranges::find(words, value) != words.end();
}

using Hit = ConditionHit;
using About = PartNames;

class Conditions {
 public:
  explicit Conditions(const PartFacts& facts)
      : facts_(facts), catalog_(facts.view.catalog.conditions) {}

  // All conditions that this record meets; `beside`: other records of its kind on the same host.
  std::vector<Hit> met_by(const PartRecord& record,
                          const std::vector<const PartRecord*>& beside) const {
    std::vector<Hit> hits;
    for (const PartSeries& series : record.values) {
      const std::string& name = facts_.parts().text(series.name);
      const std::string field = normalised_field(name);
      for (const PartCondition& condition : catalog_.conditions) {
        if (!is_about(condition, record, field)) continue;
        Hit hit{.condition = &condition, .record = &record, .series = &series, .field = name};
        if (holds(hit, beside)) hits.push_back(std::move(hit));
      }
    }
    return hits;
  }

 private:
  static bool is_about(const PartCondition& condition, const PartRecord& record,
                       const std::string& field) {
    return condition.kind == record.kind &&
           (condition.tools.empty() || is_one_of(condition.tools, record.tool)) &&
           std::ranges::all_of(
               condition.named,
               [&](const auto& name) { return record.name(name.first) == name.second; }) &&
           matches_any(condition.fields, field);
  }

  bool holds(Hit& hit, const std::vector<const PartRecord*>& beside) const {
    const PartCondition& condition = *hit.condition;
    const std::vector<PartSample>& samples = hit.series->samples;
    const PartSample& last = samples.back();
    hit.sure = {Claim::condition, condition.confidence};
    hit.value = last.value;
    if (condition.grows_per_hour ? !grows(condition, samples) : !is_met_last(hit, samples))
      return false;
    if (says_otherwise(hit)) return false;
    if (condition.under_load && !works(hit)) return false;
    if (condition.before_start && facts_.view.got_to_work()) return false;
    if (condition.siblings && siblings_differ(hit, beside) != condition.siblings) return false;
    hit.before_job = facts_.view.phases.is_before(last.line->time);
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      const bool met = !condition.grows_per_hour && is_met(hit, samples[i].value);
      if (met && samples[i].value == last.value &&
          facts_.view.phases.is_before(samples[i].line->time))
        hit.so_before_job = true;
    }
    if (!condition.grows_per_hour && samples.size() > 1 && !is_met(hit, samples.front().value))
      hit.sure.add(Ground::seen_to_begin);
    if (hit.so_before_job) hit.sure.add(Ground::ran_with_it);
    return true;
  }

  // Whether any value of the latest report meets it: some tools print several of one kind.
  bool is_met_last(Hit& hit, const std::vector<PartSample>& samples) const {
    for (auto sample = samples.rbegin();
         sample != samples.rend() && sample->line == samples.back().line; ++sample) {
      hit.value = sample->value;
      if (is_met(hit, hit.value)) return true;
    }
    return false;
  }

  bool is_met(Hit& hit, const std::string& value) const {
    const PartCondition& condition = *hit.condition;
    if (catalog_.says_nothing(value)) return false;
    const std::string letters = CountersCatalog::normalised(value);
    if (!condition.is.empty()) return is_one_of(condition.is, letters);
    if (!condition.is_not.empty()) return !is_one_of(condition.is_not, letters);
    if (!condition.contains.empty()) return contains_any(condition.contains, letters);
    if (condition.bits != 0) return (mask_in(value) & condition.bits) != 0;
    const auto number = whole_number(value);
    if (!number) return false;
    if (condition.below_max) return is_below_max(hit, *number);
    return condition.above ? *number > *condition.above
                           : condition.below && *number < *condition.below;
  }

  // Whether a note of the field, "GPU Memory / Warning" of "GPU Memory", makes it another matter.
  bool says_otherwise(const Hit& hit) const {
    const std::vector<std::string>& other = hit.condition->unless_said;
    const auto is_such_a_note = [&](const PartSeries& series) {
      return facts_.parts().text(series.name).starts_with(hit.field + " / ") &&
             contains_any(other, CountersCatalog::normalised(series.last().value));
    };
    return !other.empty() && std::ranges::any_of(hit.record->values, is_such_a_note);
  }

  bool is_below_max(Hit& hit, double number) const {
    std::string other = normalised_field(hit.field);
    const std::size_t at = other.rfind("current");
    if (at != std::string::npos)
      other.replace(at, std::string_view("current").size(), "max");
    else
      other.insert(0, "max");
    const PartSeries* most = named_in(*hit.record, other);
    if (most == nullptr) return false;
    hit.max = most->last().value;
    const auto max = whole_number(hit.max);
    return max && number > 0 && number < hit.condition->share_of_max.value_or(1) * *max;
  }

  // The first series of this name; nullptr: there is none.
  const PartSeries* named_in(const PartRecord& record, const std::string& field) const {
    if (std::exchange(named_record_, &record) != &record) {
      named_.clear();
      for (const PartSeries& series : record.values)
        named_.try_emplace(normalised_field(facts_.parts().text(series.name)), &series);
    }
    const auto known = named_.find(field);
    return known == named_.end() ? nullptr : known->second;
  }

  // The growth of the samples since the job began.
  bool grows(const PartCondition& condition, const std::vector<PartSample>& samples) const {
    std::size_t first = 0;
    while (first + 2 < samples.size() &&
           facts_.view.phases.is_before(samples[first + 1].line->time))
      ++first;
    const auto from = whole_number(samples[first].value);
    const auto to = whole_number(samples.back().value);
    if (!from || !to || *to <= *from) return false;
    const EventTime& begin = samples[first].line->time;
    const EventTime& end = samples.back().line->time;
    double hours = kHoursIfUnknown;
    if (begin.known() && end.known())
      hours = std::max(static_cast<double>(*end.wall_us - *begin.wall_us) / 3.6e9, kLeastHours);
    return (*to - *from) / hours > *condition.grows_per_hour;
  }

  bool works(Hit& hit) const {
    for (const PartSeries& series : hit.record->values) {
      if (!matches_any(catalog_.load, normalised_field(facts_.parts().text(series.name)))) continue;
      if (const auto percent = whole_number(series.last().value)) return *percent > kAtWork;
    }
    hit.sure.add(Ground::load_unknown);
    return true;
  }

  // Whether most siblings do not meet the condition: the same link of other GPUs; if there is only
  // one GPU, its other links. Nothing if too much was asked of them.
  std::optional<bool> siblings_differ(Hit& hit,
                                      const std::vector<const PartRecord*>& beside) const {
    const PartRecord& record = *hit.record;
    const Siblings* told = siblings_of(hit, beside);
    if (told == nullptr) return std::nullopt;
    const Siblings& siblings = *told;
    const GpuName gpu = gpu_of(record);
    const std::string link(record.name("link"));
    const Met of_link_here = count_in(siblings.of_link_of_gpu, {gpu, link});
    const Met elsewhere = count_in(siblings.of_link, link) - of_link_here;
    if (elsewhere.fine + elsewhere.alike > 0) return elsewhere.fine > elsewhere.alike;
    hit.sure.add(Ground::no_siblings);
    Met here = count_in(siblings.of_gpu, gpu);
    if (of_link_here.fine + of_link_here.alike > 0)
      --(is_met_by(record, hit) ? here.alike : here.fine);
    return here.fine > here.alike;
  }

  using GpuName = std::pair<std::string, std::string>;  // index, UUID

  static GpuName gpu_of(const PartRecord& record) {
    return {std::string(record.name("index")), std::string(record.name("uuid"))};
  }

  // How many meet a condition, and how many do not.
  struct Met {
    int fine = 0;
    int alike = 0;
    Met operator-(const Met& other) const { return {fine - other.fine, alike - other.alike}; }
  };

  // What one tool says in one field about all parts of a host.
  struct Siblings {
    std::map<std::string, Met> of_link;
    std::map<GpuName, Met> of_gpu;
    std::map<std::pair<GpuName, std::string>, Met> of_link_of_gpu;
  };

  template <class Counts>
  static Met count_in(const Counts& counts, const typename Counts::key_type& of) {
    const auto known = counts.find(of);
    return known == counts.end() ? Met{} : known->second;
  }

  bool is_met_by(const PartRecord& other, Hit hit) const {
    return is_met(hit, facts_.parts().find(other, hit.field)->last().value);
  }

  // A host has few kinds of GPUs, and a tool few names for what it says of them.
  static constexpr int kMostAsked = 64;

  // nullptr: more was asked.
  const Siblings* siblings_of(const Hit& hit, const std::vector<const PartRecord*>& beside) const {
    const PartRecord* first = beside.empty() ? nullptr : beside.front();
    const Asked asked{hit.condition, first, hit.record->tool, hit.field, hit.max};
    if (const auto known = siblings_.find(asked); known != siblings_.end()) return &known->second;
    if (++asked_[{hit.condition, first, hit.record->tool}] > kMostAsked) return nullptr;
    Siblings& siblings = siblings_[asked];
    for (const PartRecord* other : beside) {
      if (other->tool != hit.record->tool || facts_.parts().find(*other, hit.field) == nullptr)
        continue;
      const bool met = is_met_by(*other, hit);
      const GpuName gpu = gpu_of(*other);
      const std::string link(other->name("link"));
      for (Met* count :
           {&siblings.of_link[link], &siblings.of_gpu[gpu], &siblings.of_link_of_gpu[{gpu, link}]})
        ++(met ? count->alike : count->fine);
    }
    return &siblings;
  }

  // Condition, the first part of the host, tool, field, and the most that it may be.
  using Asked =
      std::tuple<const PartCondition*, const PartRecord*, std::string, std::string, std::string>;

  const PartFacts& facts_;
  const ConditionsCatalog& catalog_;
  // Of the record that was asked last: its series by their names.
  mutable const PartRecord* named_record_ = nullptr;
  mutable std::map<std::string, const PartSeries*> named_;
  mutable std::map<Asked, Siblings> siblings_;
  mutable std::map<std::tuple<const PartCondition*, const PartRecord*, std::string>, int> asked_;
};

// --- What is said of a part ----------------------------------------------------------------------

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string title_of_hit(const Hit& hit, const About& about) {
  std::string text = hit.condition->title;
  const std::string host = host_in_words(about.host);
  if (about.gpu.empty()) replace_all(text, "GPU {gpu}", "A GPU");
  const std::pair<std::string_view, std::string_view> words[] = {
      {"{part}", about.part},
      {"{host}", host},
      {"{gpu}", about.gpu},
      {"{field}", hit.field},
      {"{value}", hit.value},
      {"{max}", hit.max},
      {"{link}", hit.record->name("link")}};
  for (const auto& [what, by] : words) replace_all(text, what, by);
  begin_words_with_a_capital(text);
  return text;
}

}  // namespace

Suspicion suspicion_of(const PartFacts& facts, const std::vector<Hit>& hits, const About& about) {
  const Hit& first = hits.front();
  const PartCondition& condition = *first.condition;
  Suspicion suspicion;
  suspicion.since = first.series->last().line->time;
  suspicion.verdict = condition.impact;
  Finding& finding = suspicion.finding;
  finding.cause = condition.finding;
  finding.severity = condition.severity;
  suspicion.sure = first.sure;
  finding.title = title_of_hit(first, about);
  std::set<std::string> others;
  for (const Hit& hit : hits) {
    if (const std::string title = title_of_hit(hit, about); title != finding.title)
      others.insert(title);
    add_line(facts.view, hit.series->last().line.get(), finding);
  }
  if (!others.empty())
    finding.title += others.size() == 1 ? fmt::format("; {}", *others.begin())
                                        : fmt::format("; and {} more like it", others.size());
  finding.count = hits.size();
  add_actions(condition.actions, about.host, finding);
  const bool past = std::ranges::all_of(hits, &Hit::before_job);
  if (past) {
    finding.part_of_job = false;
    finding.title += ", before the job began";
  }
  // What only slows a job, or was so before it began, is not what stops it.
  suspicion.job_ran_with_it =
      condition.impact == Verdict::slow || std::ranges::all_of(hits, &Hit::so_before_job);
  return suspicion;
}

namespace {

std::map<Cause, std::vector<Hit>> by_finding(const Grounds& grounds, std::vector<Hit> hits) {
  std::ranges::stable_sort(hits, std::greater(), [&](const Hit& hit) {
    return std::make_pair(hit.condition->severity, grounds.log_odds(hit.sure));
  });
  std::map<Cause, std::vector<Hit>> groups;
  for (Hit& hit : hits) groups[hit.condition->finding].push_back(std::move(hit));
  return groups;
}

std::string name_of(const GpuPart& gpu) {
  if (!gpu.pci.empty()) return gpu.pci;
  return gpu.index.empty() ? gpu.uuid : gpu.index;
}

void lay_on_gpu(const PartFacts& facts, const GpuPart& gpu, Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  const Ownership ownership = owner_of_gpu(facts.view, gpu.host, gpu.pci);
  lay_on_owner(facts.view, ownership, gpu.host, suspicion);
  if (const std::string name = name_of(gpu); !name.empty())
    finding.subject.gpus = {gpu_name(gpu.host, name)};
  if (ownership.owner == Owner::ranks)
    if (const LineRef* line =
            line_that_ties(facts.view, facts.view.workers.all[ownership.workers.front()]))
      finding.evidence.push_back(facts.view.evidence(*line));
}

// One GPU and its trouble.
struct SickGpu {
  std::string name;
  Suspicion suspicion;
};

// Whether they differ in nothing but the GPU, which belongs to no rank that is known.
bool are_alike(const Grounds& grounds, const std::vector<SickGpu>& sick) {
  const auto without_name = [](const SickGpu& one) {
    std::string title = one.suspicion.finding.title;
    replace_all(title, "GPU " + one.name, "GPU");
    return title;
  };
  const SickGpu& first = sick.front();
  return std::ranges::all_of(sick, [&](const SickGpu& one) {
    return one.suspicion.finding.subject.ranks.empty() &&
           one.suspicion.finding.part_of_job == first.suspicion.finding.part_of_job &&
           grounds.log_odds(one.suspicion.sure) == grounds.log_odds(first.suspicion.sure) &&
           without_name(one) == without_name(first);
  });
}

// What all GPUs of a list show alike is one trouble of their host.
Suspicion of_whole_host(std::vector<SickGpu> sick) {
  Suspicion all = std::move(sick.front().suspicion);
  Finding& finding = all.finding;
  for (SickGpu& other : std::span(sick).subspan(1)) {
    Finding& its = other.suspicion.finding;
    std::ranges::move(its.subject.gpus, std::back_inserter(finding.subject.gpus));
    for (Evidence& line : its.evidence)
      if (finding.evidence.size() < kMostLines) finding.evidence.push_back(std::move(line));
    finding.count += its.count;
  }
  finding.title += fmt::format("; the same on the {} other GPUs of the list", sick.size() - 1);
  return all;
}

void suspect_gpus(const PartFacts& facts, const Conditions& conditions, Suspicions& found) {
  std::map<std::string, std::vector<const PartRecord*>> on_host;
  std::map<std::string, std::size_t> gpus_of;
  for (const GpuPart& gpu : facts.gpus) {
    ++gpus_of[gpu.host];
    for (const PartRecord* record : gpu.records) on_host[gpu.host].push_back(record);
  }
  std::map<std::pair<std::string, const PartCondition*>, std::vector<SickGpu>> by_trouble;
  for (const GpuPart& gpu : facts.gpus) {
    std::vector<Hit> hits;
    for (const PartRecord* record : gpu.records)
      for (Hit& hit : conditions.met_by(*record, on_host[gpu.host])) hits.push_back(std::move(hit));
    for (const auto& [finding, alike] : by_finding(facts.view.catalog.grounds, std::move(hits))) {
      Suspicion suspicion =
          suspicion_of(facts, alike, {.part = name_of(gpu), .host = gpu.host, .gpu = name_of(gpu)});
      lay_on_gpu(facts, gpu, suspicion);
      by_trouble[{gpu.host, alike.front().condition}].push_back(
          {name_of(gpu), std::move(suspicion)});
    }
  }
  for (auto& [trouble, sick] : by_trouble) {
    if (sick.size() > 2 && sick.size() == gpus_of[trouble.first] &&
        are_alike(facts.view.catalog.grounds, sick))
      found.push_back(of_whole_host(std::move(sick)));
    else
      for (SickGpu& one : sick) found.push_back(std::move(one.suspicion));
  }
}

// The other end, if the condition is about a link and not about a port.
const NetworkPort* other_end(const PartFacts& facts, const NetworkPort& port, const Hit& hit) {
  return hit.condition->kind == "link" && port.peer != kNoPort ? &facts.ports.all()[port.peer]
                                                               : nullptr;
}

void suspect_ports(const PartFacts& facts, const Conditions& conditions, Suspicions& found) {
  for (const NetworkPort& port : facts.ports.all()) {
    std::vector<Hit> hits;
    for (const PartRecord* record : port.records)
      for (Hit& hit : conditions.met_by(*record, {})) hits.push_back(std::move(hit));
    for (const auto& [finding, alike] : by_finding(facts.view.catalog.grounds, std::move(hits))) {
      const NetworkPort* peer = other_end(facts, port, alike.front());
      const std::string part =
          peer == nullptr ? port.label()
                          : fmt::format("the link of {} to {}", port.label(), peer->label());
      Suspicion suspicion =
          suspicion_of(facts, alike, {.part = part, .host = port.host, .gpu = ""});
      std::vector<const NetworkPort*> ends{&port};
      if (peer != nullptr) {
        ends.push_back(peer);
        suspicion.sure.add(Ground::one_of_two_ends);
      }
      lay_on_ports(facts, ends, suspicion);
      found.push_back(std::move(suspicion));
    }
  }
}

std::string path_name(const std::string& host, const PartRecord& record) {
  const std::string_view to = record.name("to");
  const std::string_view port = record.name("port");
  return fmt::format("{} to {}{}{}", host.empty() ? "a host" : host,
                     to.empty() ? record.name("to_address") : to, port.empty() ? "" : " port ",
                     port);
}

void suspect_hosts(const PartFacts& facts, const Conditions& conditions, Suspicions& found) {
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "host" && record.kind != "path") continue;
    const std::string host = facts.view.job.host_of(record.spoken_host, record.source);
    for (const auto& [finding, alike] :
         by_finding(facts.view.catalog.grounds, conditions.met_by(record, {}))) {
      const std::string part = record.kind == "path" ? path_name(host, record) : host;
      Suspicion suspicion = suspicion_of(facts, alike, {.part = part, .host = host, .gpu = ""});
      lay_on_host(facts.view, host, suspicion);
      found.push_back(std::move(suspicion));
    }
  }
}

// Counts of complaints. If the complaints themselves are there, they say more.
void suspect_fabric(const PartFacts& facts, const Conditions& conditions, Suspicions& found) {
  const auto names_parts = [&](const PartRecord& record) {
    return (record.kind == "link" || record.kind == "port") &&
           !conditions.met_by(record, {}).empty();
  };
  if (std::ranges::any_of(facts.parts().records(), names_parts)) return;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "fabric") continue;
    for (const auto& [finding, alike] :
         by_finding(facts.view.catalog.grounds, conditions.met_by(record, {}))) {
      Suspicion suspicion =
          suspicion_of(facts, alike, {.part = "the fabric", .host = {}, .gpu = {}});
      suspicion.sure.add(Ground::no_part_named);
      found.push_back(std::move(suspicion));
    }
  }
}

struct LinkReading {
  std::string link;
  std::string words;
  double value = 0;
  const LineRef* line = nullptr;
};

// The worst reading of an NVLink that would be a fault if it had risen within an hour, while most
// other links of the GPU count next to nothing.
std::optional<LinkReading> link_that_stands_out(const PartFacts& facts, const GpuPart& gpu) {
  struct Told {
    LinkReading reading;
    const CounterMeaning* counter = nullptr;
  };
  std::map<std::string, std::vector<Told>> by_counter;
  for (const PartRecord* record : gpu.records)
    for (const PartSeries& series : record->values) {
      const std::string& name = facts.parts().text(series.name);
      const CounterMeaning* counter = facts.view.catalog.counters->find(name);
      const auto value = whole_number(series.last().value);
      if (counter == nullptr || counter->of->name != "nvlink" || !counter->faulty || !value)
        continue;
      by_counter[counter->name].push_back(
          {{std::string(record->name("link")), fmt::format("{} is {}", name, series.last().value),
            *value, series.last().line.get()},
           counter});
    }
  std::optional<LinkReading> worst;
  for (const auto& [name, links] : by_counter) {
    const auto quiet = std::ranges::count_if(links, [](const Told& told) {
      return told.reading.value <= told.counter->suspect.value_or(0);
    });
    if (quiet * 2 < std::ssize(links)) continue;
    for (const Told& told : links)
      if (told.reading.value > *told.counter->faulty &&
          (!worst || told.reading.value > worst->value))
        worst = told.reading;
  }
  return worst;
}

void suspect_links_that_stand_out(const PartFacts& facts, const GpuPart& gpu, Suspicions& found) {
  const std::optional<LinkReading> worst = link_that_stands_out(facts, gpu);
  if (!worst) return;
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.job_ran_with_it = true;
  suspicion.since = worst->line->time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::gpu_nvlink_error;
  finding.severity = Severity::warning;
  suspicion.sure = Claim::reading_stands_out;
  finding.title = fmt::format(
      "Link {} of GPU {} on {}: {}, and next to nothing on its other links; one reading does not "
      "show when it rose",
      worst->link, name_of(gpu), host_in_words(gpu.host), worst->words);
  add_line(facts.view, worst->line, finding);
  const auto& classes = facts.view.catalog.counters->classes();
  if (const auto nvlink = classes.find("nvlink"); nvlink != classes.end())
    add_actions(nvlink->second.actions, gpu.host, finding);
  lay_on_gpu(facts, gpu, suspicion);
  found.push_back(std::move(suspicion));
}

}  // namespace

std::vector<ConditionHit> conditions_met(const PartFacts& facts, const PartRecord& record) {
  return Conditions(facts).met_by(record, {});
}

Suspicions suspect_conditions(const PartFacts& facts) {
  const Conditions conditions(facts);
  Suspicions found;
  suspect_gpus(facts, conditions, found);
  suspect_ports(facts, conditions, found);
  suspect_hosts(facts, conditions, found);
  suspect_fabric(facts, conditions, found);
  return found;
}

// NVLinks of a GPU by their counters.
Suspicions suspect_nvlinks(const PartFacts& facts) {
  Suspicions found;
  for (const GpuPart& gpu : facts.gpus) {
    const std::vector<Movement> moved =
        movements_of(facts.parts(), *facts.view.catalog.counters, facts.view.phases, gpu.records);
    const Movement* worst = nullptr;
    std::uint64_t links = 0;
    for (const Movement& movement : moved) {
      if (level_of(movement) == Level::nothing) continue;
      ++links;
      if (worst == nullptr || std::make_pair(level_of(movement), movement.growth) >
                                  std::make_pair(level_of(*worst), worst->growth))
        worst = &movement;
    }
    if (worst == nullptr) {
      if (!tells_of_a_job(facts.view)) suspect_links_that_stand_out(facts, gpu, found);
      continue;
    }
    Suspicion suspicion;
    suspicion.verdict = Verdict::slow;
    suspicion.since = worst->from->time;
    Finding& finding = suspicion.finding;
    finding.cause = Cause::gpu_nvlink_error;
    const bool faulty = level_of(*worst) == Level::faulty;
    finding.severity = faulty ? Severity::error : Severity::warning;
    suspicion.sure = faulty ? Claim::reading_faulty : Claim::reading_suspect;
    finding.count = links;
    finding.title = fmt::format("NVLinks of GPU {} on {} have errors: link {}: {}{}", name_of(gpu),
                                host_in_words(gpu.host), worst->link, in_words(*worst),
                                links > 1 ? fmt::format("; and {} more", links - 1) : "");
    add_line(facts.view, worst->from, finding);
    add_line(facts.view, worst->to, finding);
    const auto& classes = facts.view.catalog.counters->classes();
    if (const auto nvlink = classes.find("nvlink"); nvlink != classes.end())
      add_actions(nvlink->second.actions, gpu.host, finding);
    suspicion.job_ran_with_it = !faulty;
    if (worst->before_job) finding.part_of_job = false;
    lay_on_gpu(facts, gpu, suspicion);
    found.push_back(std::move(suspicion));
  }
  return found;
}

}  // namespace faultline
