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

double number_of(const YamlFile& file, const YAML::Node& entry, const char* name) {
  const std::string text = file.text(entry[name], name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    file.place(entry[name]).refuse(fmt::format("{} \"{}\" is not a number; write one", name, text));
  return value;
}

std::uint64_t bits_of(const YamlFile& file, const YAML::Node& entry) {
  const std::string text = file.text(entry["bits"], "bits");
  std::uint64_t value = 0;
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (!text.starts_with("0x") || error != std::errc() || end != digits.data() + digits.size())
    file.place(entry["bits"])
        .refuse(fmt::format("bits \"{}\" is not like 0xe8; write it so", text));
  return value;
}

NamePatterns patterns_of(const YamlFile& file, const YAML::Node& entry, const char* name,
                         std::string_view kept = "/*") {
  NamePatterns patterns;
  for (const std::string& text : file.texts(entry, name))
    patterns.push_back(normalised_with(text, kept));
  return patterns;
}

std::vector<std::string> words_of(const YamlFile& file, const YAML::Node& entry, const char* name) {
  return entry[name] ? patterns_of(file, entry, name, "") : std::vector<std::string>();
}

Verdict impact_of(const YamlFile& file, const YAML::Node& entry) {
  const std::string text = file.text(file.field(entry, "impact"), "impact");
  constexpr std::string_view kVerdictWords[] = {"failed", "slow", "none"};
  require_word(file.place(entry["impact"]), "impact", text, kVerdictWords);
  if (text == "none") return Verdict::healthy;
  return text == "slow" ? Verdict::slow : Verdict::failed;
}

void read_test(const YamlFile& file, const YAML::Node& entry, PartCondition& condition) {
  condition.is = words_of(file, entry, "is");
  condition.is_not = words_of(file, entry, "is_not");
  condition.contains = words_of(file, entry, "contains");
  if (entry["above"]) condition.above = number_of(file, entry, "above");
  if (entry["below"]) condition.below = number_of(file, entry, "below");
  if (entry["bits"]) condition.bits = bits_of(file, entry);
  condition.below_max = file.flag(entry, "below_max");
  if (entry["grows_per_hour"]) condition.grows_per_hour = number_of(file, entry, "grows_per_hour");
  int tests = 0;
  for (const char* name :
       {"is", "is_not", "contains", "above", "below", "bits", "below_max", "grows_per_hour"})
    tests += entry[name] ? 1 : 0;
  if (tests != 1)
    file.place(entry).refuse(
        "an entry needs one of is, is_not, contains, above, below, bits, below_max and "
        "grows_per_hour");
}

PartCondition condition_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(
      entry, "a condition",
      {"id",         "kind",       "tools",        "fields",   "is",        "is_not",
       "contains",   "above",      "below",        "bits",     "below_max", "grows_per_hour",
       "named",      "under_load", "before_start", "siblings", "finding",   "severity",
       "confidence", "impact",     "title",        "actions"});
  PartCondition condition;
  condition.id = file.text(file.field(entry, "id"), "id");
  condition.kind = file.text(file.field(entry, "kind"), "kind");
  constexpr std::string_view kKinds[] = {"gpu", "nvlink", "port", "netdev", "host", "path"};
  require_word(file.place(entry["kind"]), "kind", condition.kind, kKinds);
  if (entry["tools"]) condition.tools = file.texts(entry, "tools");
  condition.fields = patterns_of(file, entry, "fields");
  read_test(file, entry, condition);
  condition.under_load = file.flag(entry, "under_load");
  condition.before_start = file.flag(entry, "before_start");
  if (entry["named"])
    for (const auto& name : entry["named"])
      condition.named.emplace(file.text(name.first, "a name"), file.text(name.second, "a name"));
  condition.siblings = file.flag(entry, "siblings");
  const YAML::Node finding = file.field(entry, "finding");
  condition.finding = require_class(file.place(finding), file.text(finding, "finding"));
  condition.severity = enum_word<Severity>(file.place(file.field(entry, "severity")), "severity",
                                           file.text(entry["severity"], "severity"));
  file.field(entry, "confidence");
  condition.confidence = number_of(file, entry, "confidence");
  if (!(condition.confidence > 0 && condition.confidence < 1))
    file.place(entry["confidence"]).refuse("confidence is not between 0 and 1; write one that is");
  condition.impact = impact_of(file, entry);
  condition.title = file.text(file.field(entry, "title"), "title");
  if (entry["actions"])
    for (const auto& node : entry["actions"]) {
      file.require_fields(node, "an action", {"do", "command"});
      Action action{.what = file.text(file.field(node, "do"), "do")};
      if (node["command"]) action.command = file.text(node["command"], "command");
      condition.actions.push_back(std::move(action));
    }
  return condition;
}

PortWords port_words_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(entry, "ports",
                      {"state", "physical", "rate", "type", "layer", "could_be", "mtu",
                       "active_mtu", "words", "virtual", "interface_type", "infiniband", "speed",
                       "enabled_speeds", "cable_speeds", "speeds"});
  PortWords ports;
  ports.state = patterns_of(file, entry, "state");
  ports.physical = patterns_of(file, entry, "physical");
  ports.rate = patterns_of(file, entry, "rate");
  ports.type = patterns_of(file, entry, "type");
  ports.layer = patterns_of(file, entry, "layer");
  ports.could_be = patterns_of(file, entry, "could_be");
  ports.mtu = patterns_of(file, entry, "mtu");
  ports.active_mtu = patterns_of(file, entry, "active_mtu");
  // Newer than the rest: a file of one's own may not have them.
  ports.interface_type = words_of(file, entry, "interface_type");
  ports.speed = words_of(file, entry, "speed");
  ports.enabled_speeds = words_of(file, entry, "enabled_speeds");
  ports.cable_speeds = words_of(file, entry, "cable_speeds");
  ports.speeds = words_of(file, entry, "speeds");
  for (std::string& type : words_of(file, entry, "infiniband"))
    ports.infiniband.insert(std::move(type));
  ports.virtual_interfaces = patterns_of(file, entry, "virtual", "*");
  const YAML::Node words = file.field(entry, "words");
  for (const auto& state : words) {
    const std::string name = file.text(state.first, "a state");
    for (const auto& word : state.second) ports.words.emplace(file.text(word, "a word"), name);
  }
  return ports;
}

}  // namespace

bool matches_any(const NamePatterns& patterns, std::string_view name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return matches(pattern, name); });
}

std::string normalised_field(std::string_view name) { return normalised_with(name, "/"); }

std::string PortWords::state_of(std::string_view value) const {
  // "4: ACTIVE", "PORT_ACTIVE (4)": the number is the same word once more.
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
  file.require_fields(file.root(), "the file", {"unknown", "load", "ports", "conditions"});
  ConditionsCatalog catalog;
  for (const auto& word : file.field(file.root(), "unknown"))
    catalog.unknown.insert(normalised_with(word.Scalar(), ""));
  catalog.load = patterns_of(file, file.root(), "load");
  catalog.ports = port_words_of(file, file.field(file.root(), "ports"));
  std::map<std::string, std::size_t> lines;
  for (const auto& entry : file.field(file.root(), "conditions")) {
    PartCondition condition = condition_of(file, entry);
    const auto [first, is_new] = lines.emplace(condition.id, file.place(entry).line);
    if (!is_new)
      file.place(entry).refuse(fmt::format("{} is listed twice, first in line {}; rename one",
                                           condition.id, first->second));
    catalog.conditions.push_back(std::move(condition));
  }
  return catalog;
}

}  // namespace faultline
