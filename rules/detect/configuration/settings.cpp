#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "rules/detect/configuration/faults.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::string_view kEnvironment = "environment ";
constexpr std::string_view kNotSet = "not set";
constexpr std::size_t kLongestValue = 60;

std::string name_of(std::string_view question, const ComparedSetting& setting) {
  if (!setting.name.empty()) return setting.name;
  if (question.starts_with(kEnvironment)) question.remove_prefix(kEnvironment.size());
  return std::string(question);
}

std::string shown(std::string_view value) {
  if (value.empty()) return "empty";
  if (value.size() <= kLongestValue) return std::string(value);
  return std::string(value.substr(0, kLongestValue)) + "…";
}

bool tells_environment(const Setup& setup, const ProcessSetup& process) {
  return std::ranges::any_of(process.answers, [&](const AnswerGiven& answer) {
    return setup.text(answer.question).starts_with(kEnvironment);
  });
}

bool is_about_a_communicator(std::string_view question) {
  return question.starts_with("channels ");
}

const std::string* answer_of(const Setup& setup, const CrewMate& mate, std::string_view question) {
  if (is_about_a_communicator(question))
    return mate.communicator == nullptr ? nullptr : setup.answer(*mate.communicator, question);
  return setup.answer(*mate.process, question);
}

struct MateAnswer {
  std::size_t mate = 0;
  const std::string* value = nullptr;
};
using MateAnswers = std::vector<MateAnswer>;  // by mate, ascending

// What each mate says; mates whose answer cannot be known are left out.
std::vector<Unit> units_of_ranks(const Setup& setup, const Crew& crew, const MateAnswers& answers,
                                 Absence absence) {
  std::vector<Unit> units;
  std::set<std::string> hosts_that_tell;
  for (const auto& [mate, value] : answers) {
    if (is_cut(*value)) continue;
    units.push_back({*value, {mate}});
    hosts_that_tell.insert(crew.mates[mate].process->host);
  }
  if (units.empty() || absence == Absence::unknown) return units;
  // One process may have lost a line; if a whole host prints other variables, this one is not set.
  for (const auto& [host, mates] : crew.by_host) {
    if (hosts_that_tell.contains(host)) continue;
    for (std::size_t i : mates)
      if (crew.mates[i].started && tells_environment(setup, *crew.mates[i].process))
        units.push_back({std::string(kNotSet), {i}});
  }
  return units;
}

// Ranks of a host may differ among themselves, if they do so on all hosts.
std::vector<Unit> units_of_hosts(const Crew& crew, const MateAnswers& answers) {
  struct OfHost {
    std::set<std::string> values;
    Mates mates;
  };
  std::map<std::string, OfHost> by_host;
  for (const auto& [mate, value] : answers) {
    const std::string& host = crew.mates[mate].process->host;
    if (host.empty() || is_cut(*value)) continue;
    OfHost& said = by_host[host];
    said.values.insert(*value);
    said.mates.push_back(mate);
  }
  std::vector<Unit> units;
  for (auto& [host, said] : by_host)
    units.push_back({fmt::format("{}", fmt::join(said.values, " and ")), std::move(said.mates)});
  return units;
}

// What the mates answer, by question.
using Questions = std::map<std::string_view, MateAnswers>;

Questions questions_of(const Setup& setup, const Crew& crew) {
  std::map<Word, MateAnswers> by_word;
  for (std::size_t i = 0; i < crew.mates.size(); ++i) {
    const CrewMate& mate = crew.mates[i];
    for (const AnswerGiven& answer : mate.process->answers)
      if (!is_about_a_communicator(setup.text(answer.question)))
        by_word[answer.question].push_back({i, &setup.text(answer.value)});
    if (mate.communicator == nullptr) continue;
    for (const AnswerGiven& answer : mate.communicator->answers)
      if (is_about_a_communicator(setup.text(answer.question)))
        by_word[answer.question].push_back({i, &setup.text(answer.value)});
  }
  Questions questions;
  for (auto& [word, answers] : by_word) questions[setup.text(word)] = std::move(answers);
  return questions;
}

// Sockets instead of RDMA are a fault of their own: find_network_fallback.
bool is_about_sockets(std::string_view question, const std::vector<Unit>& units) {
  return (question == "network used" || question == "environment NCCL_NET") &&
         std::ranges::any_of(units, [](const Unit& unit) {
           return unit.said == "Socket" || unit.said == "socket" || unit.said == "SOCKET";
         });
}

// What the odd ones say, each once.
std::string values_of(const Setup& setup, const Crew& crew, const Mates& mates,
                      std::string_view question) {
  std::set<std::string> values;
  for (std::size_t i : mates) {
    const std::string* value = answer_of(setup, crew.mates[i], question);
    values.insert(shown(value == nullptr ? kNotSet : std::string_view(*value)));
  }
  constexpr std::size_t kMost = 3;
  if (values.size() > kMost) return fmt::format("{} different values", values.size());
  return fmt::format("{}", fmt::join(values, " or "));
}

Suspicion difference(const View& view, const Crew& crew, std::string_view question,
                     const MateAnswers& answers, const ComparedSetting& setting,
                     const Division& division) {
  const Setup& setup = view.job.setup();
  bool by_absence = division.reference == kNotSet;
  bool never_started = false;
  for (std::size_t i : division.odd) {
    by_absence |= answer_of(setup, crew.mates[i], question) == nullptr;
    never_started |= !crew.mates[i].started;
  }
  const Severity severity =
      never_started ? setting.if_not_started.value_or(setting.severity) : setting.severity;
  Suspicion suspicion =
      configuration_fault(setting.cause, severity, {Claim::setting_differs, setting.confidence});
  suspicion.sure.add(division.doubt);
  if (by_absence) suspicion.sure.add(Ground::by_absence);
  Finding& finding = suspicion.finding;
  finding.subject = is_of(setting.cause, Family::software) ? hosts_of(crew, division.odd)
                                                           : subject_of(view, crew, division.odd);
  finding.title = fmt::format("{} is {} on {}", name_of(question, setting),
                              values_of(setup, crew, division.odd, question),
                              people_of(view, crew, division.odd));
  if (!division.everybody)
    finding.title += fmt::format(", {} on its peers", shown(division.reference));
  if (!setting.why.empty()) finding.title += fmt::format(" ({})", setting.why);
  std::set<std::string> shown_values;
  for (std::size_t i : division.odd)
    if (const std::string* value = answer_of(setup, crew.mates[i], question))
      if (shown_values.insert(*value).second)
        add_setting_line(view, setup.line_of_answer(crew.mates[i].process->host, question, *value),
                         suspicion);
  if (division.everybody) return suspicion;
  const auto usual = std::ranges::find_if(
      answers, [&](const MateAnswer& answer) { return *answer.value == division.reference; });
  if (usual != answers.end())
    add_setting_line(
        view, setup.line_of_answer(crew.mates[usual->mate].process->host, question, *usual->value),
        suspicion);
  return suspicion;
}

bool applies(const View& view, Where where, const Crew& crew, const Mates& mates) {
  if (where == Where::several_hosts) return crew.several_hosts();
  if (where == Where::anywhere) return true;
  return std::ranges::any_of(mates, [&](std::size_t i) {
    const auto host = crew.by_host.find(crew.mates[i].process->host);
    return (host != crew.by_host.end() && host->second.size() > 1) ||
           view.workers_in(crew.mates[i].process->process).size() > 1;
  });
}

}  // namespace

std::vector<Suspicion> find_differing_settings(const View& view, const Crew& crew) {
  const Setup& setup = view.job.setup();
  std::vector<Suspicion> found;
  for (const auto& [question, answers] : questions_of(setup, crew)) {
    const ComparedSetting* setting = view.catalog.settings.find(question);
    if (setting == nullptr || setting->between == Between::nobody) continue;
    const bool by_host = setting->between == Between::hosts;
    const std::vector<Unit> units = by_host ? units_of_hosts(crew, answers)
                                            : units_of_ranks(setup, crew, answers, setting->absent);
    const Division division = divide(units, by_host ? 0 : crew.unheard);
    if (division.odd.empty() || is_about_sockets(question, units)) continue;
    // If every host has its own value, that is intended.
    if (by_host && division.everybody && units.size() > 2) continue;
    found.push_back(difference(view, crew, question, answers, *setting, division));
  }
  return found;
}

std::vector<Suspicion> find_suspicious_settings(const View& view, const Crew& crew) {
  const Setup& setup = view.job.setup();
  std::vector<Suspicion> found;
  for (const auto& [question, answers] : questions_of(setup, crew)) {
    for (const SuspiciousValue& suspicious : view.catalog.settings.suspicious) {
      if (!suspicious.is_about(question) || !suspicious.without.empty()) continue;
      Mates mates;
      std::string example;
      for (const auto& [mate, value] : answers) {
        if (!suspicious.matches(question, *value)) continue;
        mates.push_back(mate);
        example = *value;
      }
      if (mates.empty() || !applies(view, suspicious.where, crew, mates)) continue;
      const bool all = mates.size() == crew.mates.size();
      const bool harmless = suspicious.cause == Cause::config_environment_mismatch;
      Suspicion& suspicion = found.emplace_back(configuration_fault(
          suspicious.cause, all || harmless ? suspicious.severity : Severity::warning,
          {Claim::setting_suspicious, suspicious.confidence}));
      Finding& finding = suspicion.finding;
      finding.subject = harmless && !all ? subject_of(view, crew, mates) : hosts_of(crew, mates);
      std::string_view name = question;
      name.remove_prefix(name.find(' ') + 1);
      finding.title = fmt::format("{} is {} on {}: {}", name, shown(example),
                                  all ? "all ranks" : people_of(view, crew, mates), suspicious.why);
      add_setting_line(
          view, setup.line_of_answer(crew.mates[mates.front()].process->host, question, example),
          suspicion);
    }
  }
  return found;
}

}  // namespace faultline
