// causality.yaml and advice.yaml.
#include <charconv>
#include <utility>

#include "rules/knowledge/advice.h"
#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

std::vector<Cause> classes_of(const YamlFile& file, const YAML::Node& entry, const char* name) {
  std::vector<Cause> classes;
  for (const std::string& text : file.texts(entry, name))
    classes.push_back(require_class(file.place(entry[name]), text));
  return classes;
}

std::string template_text(const YamlFile& file, const YAML::Node& node, std::string_view what) {
  std::string text = file.text(node, what);
  if (const std::string_view unknown = unknown_placeholder(text); !unknown.empty())
    file.place(node).refuse(fmt::format(
        "placeholder {{{}}} is unknown; use {{host}}, {{gpu}}, {{gpu_smi}}, {{nic}}, {{port}} or "
        "{{rank}}",
        unknown));
  return text;
}

Action action_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(entry, "an action", {"do", "where", "command"});
  Action action{.what = template_text(file, file.field(entry, "do"), "do")};
  if (entry["where"]) action.where = template_text(file, entry["where"], "where");
  if (entry["command"]) action.command = template_text(file, entry["command"], "command");
  return action;
}

bool truth_of(const YamlFile& file, const YAML::Node& node) {
  const std::string text = file.text(node, "exclude_host");
  if (text != "true" && text != "false")
    file.place(node).refuse(fmt::format("exclude_host \"{}\" is neither true nor false", text));
  return text == "true";
}

Advice advice_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(entry, "an advice", {"title", "remedy", "exclude_host", "actions"});
  Advice advice{.title = template_text(file, file.field(entry, "title"), "title")};
  if (entry["remedy"]) advice.remedy = file.text(entry["remedy"], "remedy");
  if (entry["exclude_host"]) advice.exclude_host = truth_of(file, entry["exclude_host"]);
  const YAML::Node actions = file.field(entry, "actions");
  if (!actions.IsSequence() || actions.size() == 0)
    file.place(actions).refuse("actions is not a list; write at least one \"- do:\"");
  for (const auto& action : actions) advice.actions.push_back(action_of(file, action));
  return advice;
}

int seconds_of(const YamlFile& file, const YAML::Node& node) {
  const std::string text = file.text(node, "told_before");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0)
    file.place(node).refuse(
        fmt::format("told_before \"{}\" is no number of seconds; write one", text));
  return seconds;
}

}  // namespace

std::vector<CausalLink> read_causality(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  if (!file.root().IsSequence())
    file.place(file.root())
        .refuse("this is not a list; write entries of causes, effects and relations");

  std::vector<CausalLink> links;
  std::map<std::pair<Cause, Cause>, std::size_t> lines;
  for (const auto& entry : file.root()) {
    const CatalogPlace place = file.place(entry);
    file.require_fields(entry, "an entry", {"causes", "effects", "relations", "told_before"});
    const auto causes = classes_of(file, entry, "causes");
    const auto effects = classes_of(file, entry, "effects");
    std::vector<Relation> relations;
    for (const std::string& word : file.texts(entry, "relations"))
      relations.push_back(enum_word<Relation>(file.place(entry["relations"]), "relation", word));

    const int told_before = entry["told_before"] ? seconds_of(file, entry["told_before"]) : 0;

    for (const Cause cause : causes)
      for (const Cause effect : effects) {
        const auto [first, is_new] = lines.emplace(std::pair(cause, effect), place.line);
        if (!is_new)
          place.refuse(
              fmt::format("{} -> {} is listed twice, first in line {}; join their relations", cause,
                          effect, first->second));
        links.push_back({cause, effect, relations, told_before});
      }
  }
  return links;
}

std::map<Cause, Advice> read_advice(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  if (!file.root().IsMap())
    file.place(file.root()).refuse("this is not a mapping; write an advice under each class");

  std::map<Cause, Advice> advice;
  std::map<Cause, std::size_t> lines;
  for (const auto& entry : file.root()) {
    const CatalogPlace place = file.place(entry.first);
    const Cause cause = require_class(place, file.text(entry.first, "a class"));
    const auto [first, is_new] = lines.emplace(cause, place.line);
    if (!is_new)
      place.refuse(fmt::format("{} is listed twice, first in line {}; remove one of the two", cause,
                               first->second));
    advice.emplace(cause, advice_of(file, entry.second));
  }
  return advice;
}

}  // namespace faultline
