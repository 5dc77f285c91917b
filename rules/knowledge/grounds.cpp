#include "rules/knowledge/grounds.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

// Fields that only accuracy/fit reads.
constexpr auto kOfTheFit = [](const YamlNode&) {};

Grounds::Row ground_of(const YamlFile& file, const YamlNode& entry) {
  Grounds::Row row;
  const auto read_most = [&](const YamlNode& node) {
    row.most = log_odds_of(file.probability(node, "most"));
  };
  file.read_fields(entry, "a ground",
                   {maybe("weight", row.weight), maybe("most", read_most),
                    needed("means", row.means), maybe("fit", kOfTheFit), maybe("set", kOfTheFit)});
  if (row.weight == 0 && !row.most)
    file.place(entry).refuse("this ground changes nothing; write a weight, or most");
  return row;
}

Grounds::Row claim_of(const YamlFile& file, const YamlNode& entry) {
  Grounds::Row row;
  const auto read_prior = [&](const YamlNode& node) {
    row.weight = log_odds_of(file.probability(node, "prior"));
  };
  file.read_fields(entry, "a claim",
                   {needed("prior", read_prior), maybe("unseen", row.unseen),
                    needed("means", row.means), maybe("set", kOfTheFit)});
  return row;
}

// Rows in the order of their enum. A name that the program does not know would never be used, and
// one that is missing would weigh nothing.
class Rows {
 public:
  explicit Rows(std::span<const std::string_view> names)
      : names_(names), rows_(names.size()), there_(names.size()) {}

  template <class Read>
  void read(const YamlFile& file, const YamlNode& section, Read read_row) {
    file.read_pairs(section, "a section", [&](const YamlNode& key, const YamlNode& entry) {
      const std::string name = file.text(key, "a name");
      const auto known = std::ranges::find(names_, name);
      if (known == names_.end())
        file.place(key).refuse(
            fmt::format("unknown name \"{}\"; remove it, or correct the spelling", name));
      const auto index = static_cast<std::size_t>(known - names_.begin());
      rows_[index] = read_row(file, entry);
      there_[index] = true;
    });
  }

  std::vector<Grounds::Row> all(const YamlFile& file) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (!there_[i])
        file.place(file.root())
            .refuse(fmt::format("\"{}\" is missing; copy it from the built-in file", names_[i]));
    return std::move(rows_);
  }

 private:
  std::span<const std::string_view> names_;
  std::vector<Grounds::Row> rows_;
  std::vector<bool> there_;
};

}  // namespace

double log_odds_of(double probability) { return std::log(probability / (1 - probability)); }

double probability_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

double rounded_confidence(double confidence) { return std::round(confidence * 100) / 100; }

// Above unseen_from, confidence grows more slowly and never exceeds most_unseen.
double worth_unseen(double log_odds) {
  const double from = log_odds_of(limits::unseen_from);
  const double most = log_odds_of(limits::most_stated);
  const double share = (log_odds_of(limits::most_unseen) - from) / (most - from);
  return log_odds <= from ? log_odds : from + share * (std::min(log_odds, most) - from);
}

void Sureness::remove(Ground ground) { std::erase(grounds, ground); }

void Sureness::add(Ground ground) {
  if (!has(ground)) grounds.push_back(ground);
}

void Sureness::add(const std::vector<Ground>& more) {
  for (const Ground ground : more) add(ground);
}

void Sureness::add(std::optional<Ground> ground) {
  if (ground) add(*ground);
}

bool Sureness::has(Ground ground) const {
  return std::ranges::find(grounds, ground) != grounds.end();
}

const Grounds::Row& Grounds::row(Ground ground) const {
  static const Row none;
  const auto index = static_cast<std::size_t>(ground);
  return index < grounds_.size() ? grounds_[index] : none;
}

const Grounds::Row& Grounds::row(Claim claim) const {
  static const Row none;
  const auto index = static_cast<std::size_t>(claim);
  return index < claims_.size() ? claims_[index] : none;
}

// The prior; then the weights of the grounds about the evidence, and their limits; then the same
// for grounds about other findings. In the end, the reduction for evidence that no real log has
// had, unless something else bears it out.
std::vector<Grounds::Term> Grounds::terms(const Sureness& sureness) const {
  std::vector<Term> terms;
  double sum = 0;
  const auto add = [&](double weight, std::string_view why) {
    sum += weight;
    terms.push_back({weight, why});
  };
  const Row* claim = sureness.claim ? &row(*sureness.claim) : nullptr;
  const double prior = claim == nullptr ? 0 : claim->weight;
  add(sureness.own
          ? log_odds_of(std::clamp(*sureness.own, 1 - limits::most_stated, limits::most_stated))
          : prior,
      claim == nullptr ? std::string_view("nothing is claimed") : claim->means);
  for (const bool of_company : {false, true}) {
    for (const Ground ground : sureness.grounds)
      if (const Row& its = row(ground); its.of_company == of_company && its.weight != 0)
        add(its.weight, its.means);
    for (const Ground ground : sureness.grounds)
      if (const Row& its = row(ground); its.of_company == of_company && its.most)
        add(std::min(*its.most - sum, 0.0), its.means);
  }
  if (claim != nullptr && claim->unseen && !sureness.has(Ground::borne_out))
    if (const double worth = worth_unseen(sum); worth < sum) add(worth - sum, kUnseenEvidence);
  return terms;
}

double Grounds::log_odds(const Sureness& sureness) const {
  double sum = 0;
  for (const Term& term : terms(sureness)) sum += term.weight;
  return sum;
}

double Grounds::confidence(const Sureness& sureness) const {
  return std::min(probability_of(log_odds(sureness)), limits::most_stated);
}

std::vector<ConfidenceStep> Grounds::steps(const Sureness& sureness) const {
  std::vector<ConfidenceStep> steps;
  double sum = 0;
  for (const Term& term : terms(sureness)) {
    sum += term.weight;
    steps.push_back(
        {.confidence = rounded_confidence(std::min(probability_of(sum), limits::most_stated)),
         .why = fmt::format("{:+.2f} {}", term.weight, term.why)});
  }
  return steps;
}

Grounds read_grounds(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  Rows grounds(kGroundNames);
  Rows claims(kClaimNames);
  file.read_fields(
      file.root(), "the file",
      {needed("grounds", [&](const YamlNode& section) { grounds.read(file, section, ground_of); }),
       needed("company",
              [&](const YamlNode& section) {
                grounds.read(file, section, [](const YamlFile& of, const YamlNode& entry) {
                  Grounds::Row row = ground_of(of, entry);
                  row.of_company = true;
                  return row;
                });
              }),
       needed("claims", [&](const YamlNode& section) { claims.read(file, section, claim_of); }),
       // Read when the program is built (cmake/grounds.cmake).
       maybe("limits", [](const YamlNode&) {})});
  return {grounds.all(file), claims.all(file)};
}

}  // namespace faultline
