// conditions.yaml and what is asked of it.
#include "rules/knowledge/conditions_catalog.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  // The part before the first star must begin the text; what follows may begin anywhere after it.
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  text.remove_prefix(star);
  if (pattern.empty()) return true;
  const std::size_t next = pattern.find('*');
  const std::string_view piece = pattern.substr(0, next);
  if (next == std::string_view::npos) return text.ends_with(piece);
  // The earliest place leaves most for the rest.
  const std::size_t at = text.find(piece);
  return at != std::string_view::npos &&
         matches(pattern.substr(next), text.substr(at + piece.size()));
}

std::string normalised_with(std::string_view text, std::string_view kept) {
  std::string out;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || kept.find(c) != std::string_view::npos)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::uint64_t bits_of(const YamlFile& file, const YamlNode& node) {
  const std::string text = file.text(node, "bits");
  std::uint64_t value = 0;
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (!text.starts_with("0x") || error != std::errc() || end != digits.data() + digits.size())
    file.place(node).refuse(
        fmt::format("bits \"{}\" is not a hexadecimal number; write one such as 0xe8", text));
  return value;
}

Verdict impact_of(const YamlFile& file, const YamlNode& node) {
  const std::string text = file.text(node, "impact");
  constexpr std::string_view kVerdictWords[] = {"failed", "slow", "none"};
  require_word(file.place(node), "impact", text, kVerdictWords);
  if (text == "none") return Verdict::healthy;
  return text == "slow" ? Verdict::slow : Verdict::failed;
}

// Reads names in the form in which they are compared.
auto patterns_into(const YamlFile& file, const char* name, NamePatterns& into,
                   std::string_view kept) {
  return [&file, &into, name, kept](const YamlNode& node) {
    for (const std::string& text : file.texts(node, name))
      into.push_back(normalised_with(text, kept));
  };
}

YamlField patterns(const YamlFile& file, const char* name, NamePatterns& into,
                   std::string_view kept = "/*") {
  return needed(name, patterns_into(file, name, into, kept));
}

YamlField words(const YamlFile& file, const char* name, std::vector<std::string>& into) {
  return maybe(name, patterns_into(file, name, into, ""));
}

PartCondition condition_of(const YamlFile& file, const YamlNode& entry) {
  PartCondition condition;
  const auto read_kind = [&](const YamlNode& node) {
    constexpr std::string_view kKinds[] = {"gpu",  "nvlink", "port",  "netdev", "link", "host",
                                           "path", "job",    "nodes", "fabric", "pod"};
    condition.kind = file.text(node, "kind");
    require_word(file.place(node), "kind", condition.kind, kKinds);
  };
  const auto read_names = [&](const YamlNode& node) {
    file.read_pairs(node, "named", [&](const YamlNode& name, const YamlNode& value) {
      condition.named.emplace(file.text(name, "a name"), file.text(value, "a name"));
    });
  };
  file.read_fields(
      entry, "a condition",
      {needed("id", condition.id),
       needed("kind", read_kind),
       maybe("tools", condition.tools),
       patterns(file, "fields", condition.fields),
       words(file, "is", condition.is),
       words(file, "is_not", condition.is_not),
       words(file, "contains", condition.contains),
       maybe("above", condition.above),
       maybe("below", condition.below),
       maybe("bits", [&](const YamlNode& node) { condition.bits = bits_of(file, node); }),
       maybe("below_max", condition.below_max),
       maybe("share_of_max", condition.share_of_max),
       maybe("grows_per_hour", condition.grows_per_hour),
       words(file, "unless_said", condition.unless_said),
       maybe("named", read_names),
       maybe("under_load", condition.under_load),
       maybe("before_start", condition.before_start),
       maybe("siblings", condition.siblings),
       needed("finding", condition.finding),
       needed("severity", condition.severity),
       needed("confidence",
              [&](const YamlNode& node) {
                condition.confidence = file.probability(node, "confidence");
              }),
       needed("impact", [&](const YamlNode& node) { condition.impact = impact_of(file, node); }),
       needed("title", condition.title),
       maybe("actions", condition.actions)});
  int tests = 0;
  for (const char* name :
       {"is", "is_not", "contains", "above", "below", "bits", "below_max", "grows_per_hour"})
    tests += entry.find(name) != nullptr ? 1 : 0;
  if (tests != 1)
    file.place(entry).refuse(
        "an entry needs exactly one of is, is_not, contains, above, below, bits, below_max and "
        "grows_per_hour");
  return condition;
}

PortWords port_words_of(const YamlFile& file, const YamlNode& entry) {
  PortWords ports;
  std::vector<std::string> infiniband;
  std::vector<std::string> asked_by;
  const auto read_words = [&](const YamlNode& node) {
    file.read_pairs(node, "words", [&](const YamlNode& state, const YamlNode& said) {
      const std::string name = file.text(state, "a state");
      for (const std::string& word : file.texts(said, name)) ports.words.emplace(word, name);
    });
  };
  // The optional ones are newer: a user's file may not have them.
  file.read_fields(
      entry, "ports",
      {patterns(file, "state", ports.state), patterns(file, "physical", ports.physical),
       patterns(file, "rate", ports.rate), patterns(file, "type", ports.type),
       patterns(file, "layer", ports.layer), patterns(file, "could_be", ports.could_be),
       patterns(file, "mtu", ports.mtu), patterns(file, "active_mtu", ports.active_mtu),
       needed("words", read_words), patterns(file, "virtual", ports.virtual_interfaces, "*"),
       words(file, "interface_type", ports.interface_type), words(file, "infiniband", infiniband),
       words(file, "asked_by", asked_by), words(file, "speed", ports.speed),
       words(file, "enabled_speeds", ports.enabled_speeds),
       words(file, "cable_speeds", ports.cable_speeds), words(file, "speeds", ports.speeds)});
  ports.infiniband.insert(infiniband.begin(), infiniband.end());
  ports.asked_by.insert(asked_by.begin(), asked_by.end());
  return ports;
}

}  // namespace

bool matches_any(const NamePatterns& patterns, std::string_view name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return matches(pattern, name); });
}

std::string normalised_field(std::string_view name) { return normalised_with(name, "/"); }

std::string PortWords::state_of(std::string_view value) const {
  // "4: ACTIVE", "PORT_ACTIVE (4)": the number repeats the word.
  std::string letters;
  for (char c : value)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto known = words.find(letters);
  return known == words.end() ? std::string() : known->second;
}

bool ConditionsCatalog::says_nothing(std::string_view value) const {
  return unknown.contains(normalised_with(value, ""));
}

ConditionsCatalog read_conditions(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  ConditionsCatalog catalog;
  std::map<std::string, std::size_t> lines;
  const auto read_condition = [&](const YamlNode& entry) {
    PartCondition condition = condition_of(file, entry);
    const auto [first, is_new] = lines.emplace(condition.id, file.place(entry).line);
    if (!is_new)
      file.place(entry).refuse(fmt::format("{} is listed twice, first in line {}; rename one",
                                           condition.id, first->second));
    catalog.conditions.push_back(std::move(condition));
  };
  file.read_fields(
      file.root(), "the file",
      {each(
           "unknown",
           [&](const YamlNode& word) { catalog.unknown.insert(normalised_with(word.text(), "")); }),
       patterns(file, "load", catalog.load),
       needed("ports", [&](const YamlNode& node) { catalog.ports = port_words_of(file, node); }),
       each("conditions", read_condition)});
  return catalog;
}

}  // namespace faultline
