#include "accuracy/fit.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "accuracy/scoreboard.h"
#include "rules/knowledge/grounds.h"
#include "rules/knowledge/limits.h"

namespace faultline::accuracy {
namespace {

// The value that a person set counts as many answers.
constexpr double kHeldToSet = 3;
// A parameter in fewer answers keeps its set value: they come from only a few kinds of job.
constexpr double kFewest = 12;
constexpr int kRounds = 200;
constexpr double kPace = 0.5;  // share of a Newton step; several weights explain the same answers
constexpr double kUnseen = 0.89;
constexpr double kSuspected = 0.79;
constexpr double kSurest = 0.98;
constexpr double kLeastSure = 0.02;
constexpr double kFarthest = 6;
constexpr double kMostRaised = 0.8;  // the fit raises no positive weight above this

double logit(double probability) { return std::log(probability / (1 - probability)); }
double logistic(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

// In which direction a row lets the fit move its numbers.
enum class Freedom { none, less_sure, both };

Freedom freedom_of(const YAML::Node& row) {
  const auto word = row["fit"] ? row["fit"].as<std::string>() : std::string();
  if (word.empty()) return Freedom::less_sure;
  if (word != "none" && word != "both")
    throw std::runtime_error(fmt::format("fit: \"{}\" is unknown; use none or both", word));
  return word == "none" ? Freedom::none : Freedom::both;
}

std::size_t add_parameter(std::vector<Parameter>& all, std::string section, const std::string& name,
                          const std::string& field, const YAML::Node& row, Freedom freedom) {
  Parameter it{.section = std::move(section), .name = name, .field = field};
  it.number = row[field].as<double>();
  const YAML::Node by_hand = row["set"];
  const double number = by_hand && by_hand[field] ? by_hand[field].as<double>() : it.number;
  if (field == "weight") {
    it.set = number;
    it.least = number < 0 ? -kFarthest : 0;
    it.most = freedom != Freedom::both ? number : number < 0 ? 0 : std::max(number, kMostRaised);
  } else {
    it.set = logit(number);
    it.least = std::min(it.set, logit(kLeastSure));
    const double line = number < limits::least_to_blame ? kSuspected
                        : number < 0.9                  ? kUnseen
                                                        : kSurest;
    it.most = freedom == Freedom::both ? std::max(it.set, logit(line)) : it.set;
  }
  if (freedom == Freedom::none) it.least = it.most = it.set;
  it.value = it.set;
  all.push_back(std::move(it));
  return all.size() - 1;
}

// A sum of log-odds, and the parameters that it depends on.
struct Walk {
  double sum = 0;
  std::vector<std::size_t> moves;

  void add(const std::vector<Parameter>& all, std::size_t parameter) {
    sum += all[parameter].value;
    moves.push_back(parameter);
  }
  void limit(const std::vector<Parameter>& all, std::size_t parameter) {
    if (all[parameter].value >= sum) return;
    sum = all[parameter].value;
    moves.assign(1, parameter);
  }
};

Walk walk(const FitSample& sample, const std::vector<Parameter>& all) {
  Walk at;
  at.sum = sample.own;
  if (sample.prior) at.add(all, *sample.prior);
  for (const bool company : {false, true}) {
    for (const WeightTable::Ground& ground : sample.grounds)
      if (ground.company == company && ground.weight) at.add(all, *ground.weight);
    for (const WeightTable::Ground& ground : sample.grounds)
      if (ground.company == company && ground.most) at.limit(all, *ground.most);
  }
  if (const double worth = worth_unseen(at.sum); sample.unseen && worth < at.sum) {
    at.sum = worth;
    at.moves.clear();
  }
  return at;
}

double stated(double log_odds) { return std::min(logistic(log_odds), 0.99); }

std::string number_of(const Parameter& it, double value) {
  return it.field == "weight" ? fmt::format("{:.1f}", value)
                              : fmt::format("{:.2f}", logistic(value));
}

// Writes the fitted number; if it moved, the number that a person had set follows as `set:`.
void write_number(const Parameter& it, std::string& line) {
  const std::string number = number_of(it, it.value);
  const std::string by_hand = number_of(it, it.set);
  RE2::Replace(&line, fmt::format(R"(, set: \{{{}: [-+0-9.]+\}})", it.field), "");
  RE2::Replace(&line, fmt::format(R"(\b{}: [-+0-9.]+)", it.field),
               fmt::format("{}: {}", it.field, number));
  if (number != by_hand)
    RE2::Replace(&line, ", means:", fmt::format(", set: {{{}: {}}}, means:", it.field, by_hand));
}

}  // namespace

WeightTable::WeightTable(std::string_view yaml) : text_(yaml) {
  const YAML::Node root = YAML::Load(text_);
  for (const char* section : {"grounds", "company"}) {
    if (!root[section])
      throw std::runtime_error(fmt::format("the file has no section '{}'", section));
    for (const auto& row : root[section]) {
      const auto name = row.first.as<std::string>();
      Ground ground{.company = std::string_view(section) == "company"};
      const Freedom freedom = freedom_of(row.second);
      if (row.second["weight"])
        ground.weight = add_parameter(parameters, section, name, "weight", row.second, freedom);
      if (row.second["most"])
        ground.most = add_parameter(parameters, section, name, "most", row.second, freedom);
      grounds[row.second["means"].as<std::string>()] = ground;
    }
  }
  for (const auto& row : root["claims"])
    claim_priors[row.second["means"].as<std::string>()] = add_parameter(
        parameters, "claims", row.first.as<std::string>(), "prior", row.second, Freedom::both);
}

std::string WeightTable::written() const {
  static const RE2 kSection(R"(^(\w+):\s*$)");
  static const RE2 kRow(R"(^  (\w+): *\{)");
  std::string out;
  std::string section;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    std::string line = text_.substr(at, end - at);
    at = end + 1;
    std::string name;
    if (RE2::PartialMatch(line, kSection, &name)) section = name;
    if (RE2::PartialMatch(line, kRow, &name))
      for (const Parameter& it : parameters)
        if (it.section == section && it.name == name) write_number(it, line);
    out += line + "\n";
  }
  return out;
}

std::optional<FitSample> sample_of(const WeightTable& table,
                                   const std::vector<ConfidenceStep>& terms) {
  static const RE2 kSigned(R"(^[-+]\d+\.\d+ )");
  const auto meaning = [](std::string why) {
    RE2::Replace(&why, kSigned, "");
    return why;
  };
  if (terms.empty()) return std::nullopt;
  FitSample sample;
  const double own = std::clamp(terms.front().confidence, 0.01, 0.99);
  const auto claim = table.claim_priors.find(meaning(terms.front().why));
  constexpr double kRounded = 0.006;
  if (claim != table.claim_priors.end() &&
      std::abs(table.parameters[claim->second].number - own) < kRounded)
    sample.prior = claim->second;
  else
    sample.own = logit(own);
  std::vector<std::string> seen;  // a ground with a weight and a limit has two terms
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string why = meaning(terms[i].why);
    if (why == kUnseenEvidence) {
      sample.unseen = true;
      continue;
    }
    const auto ground = table.grounds.find(why);
    if (ground == table.grounds.end()) return std::nullopt;
    if (std::ranges::find(seen, why) != seen.end()) continue;
    sample.grounds.push_back(ground->second);
    seen.push_back(std::move(why));
  }
  return sample;
}

double log_odds_of(const FitSample& sample, const std::vector<Parameter>& parameters) {
  return walk(sample, parameters).sum;
}

void fit(WeightTable& table, const std::vector<FitSample>& samples) {
  std::vector<Parameter>& all = table.parameters;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> slope(all.size());
    std::vector<double> bend(all.size());
    std::vector<double> seen(all.size());
    for (const FitSample& sample : samples) {
      if (sample.part == FitSample::Part::other_seeds ||
          sample.part == FitSample::Part::other_families)
        continue;
      const Walk at = walk(sample, all);
      const double p = logistic(at.sum);
      for (const std::size_t parameter : at.moves) {
        slope[parameter] += sample.counts * ((sample.right ? 1 : 0) - p);
        bend[parameter] += sample.counts * p * (1 - p);
        seen[parameter] += sample.counts;
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      Parameter& it = all[i];
      it.seen = seen[i];
      if (seen[i] < kFewest) continue;
      const double step = (slope[i] - kHeldToSet * (it.value - it.set)) / (bend[i] + kHeldToSet);
      it.value = std::clamp(it.value + kPace * step, it.least, it.most);
    }
  }
}

std::string fit_report(const WeightTable& table, const std::vector<FitSample>& samples) {
  std::vector<Parameter> as_set = table.parameters;
  for (Parameter& it : as_set) it.value = it.set;
  const auto row = [&](std::string_view name, FitSample::Part part) {
    std::vector<Stated> before;
    std::vector<Stated> after;
    double loss_before = 0;
    double loss_after = 0;
    for (const FitSample& sample : samples) {
      if (sample.part != part) continue;
      const auto count = [&](const std::vector<Parameter>& parameters, std::vector<Stated>& into,
                             double& loss) {
        const double p = stated(log_odds_of(sample, parameters));
        into.push_back({"", p, sample.right});
        loss -= std::log(sample.right ? p : 1 - p);
      };
      count(as_set, before, loss_before);
      count(table.parameters, after, loss_after);
    }
    const auto n = static_cast<double>(std::max<std::size_t>(before.size(), 1));
    return fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", name, before.size(),
                       loss_before / n, loss_after / n, calibration_error(before),
                       calibration_error(after));
  };
  std::string text =
      "| answers | | log loss as set | fitted | calibration error as set | fitted "
      "|\n|---|--:|--:|--:|--:|--:|\n";
  text += row("fitted on", FitSample::Part::fitted);
  text += row("other seeds", FitSample::Part::other_seeds);
  text += row("other families", FitSample::Part::other_families);
  text += row("real logs (fitted on)", FitSample::Part::real);
  text += "\n| moved | | in answers | set | fitted |\n|---|---|--:|--:|--:|\n";
  std::vector<const Parameter*> moved;
  constexpr double kWorthTelling = 0.3;
  for (const Parameter& it : table.parameters)
    if (std::abs(it.value - it.set) >= kWorthTelling) moved.push_back(&it);
  std::ranges::stable_sort(moved, std::greater{},
                           [](const Parameter* it) { return std::abs(it->value - it->set); });
  for (const Parameter* it : moved)
    text += fmt::format("| `{}` | {} | {:.0f} | {} | {} |\n", it->name, it->field, it->seen,
                        number_of(*it, it->set), number_of(*it, it->value));
  return text;
}

}  // namespace faultline::accuracy
