// causality.yaml and advice.yaml.
#include <charconv>
#include <utility>

#include "rules/knowledge/advice.h"
#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

void require_placeholders(const YamlFile& file, const YamlNode& node) {
  if (const auto unknown = unknown_placeholders(node.text()); !unknown.empty())
    file.place(node).refuse(fmt::format(
        "placeholder {{{}}} is unknown; use {{host}}, {{gpu}}, {{gpu_smi}}, {{nic}}, {{port}}, "
        "{{netdev}}, {{pid}}, {{log}}, {{peer}} or {{rank}}",
        unknown.front()));
}

Advice advice_of(const YamlFile& file, const YamlNode& entry) {
  Advice advice;
  file.read_fields(entry, "an advice",
                   {needed("title", advice.title), maybe("remedy", advice.remedy),
                    maybe("exclude_host", advice.exclude_host), needed("actions", advice.actions)});
  require_placeholders(file, file.field(entry, "title"));
  if (const YamlNode* actions = entry.find("actions"))
    for (const YamlNode& action : actions->items())
      for (const auto& [key, text] : action.fields()) require_placeholders(file, text);
  return advice;
}

int seconds_of(const YamlFile& file, const YamlNode& node) {
  const std::string text = file.text(node, "told_before");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0)
    file.place(node).refuse(
        fmt::format("told_before \"{}\" is not a number of seconds; write one", text));
  return seconds;
}

}  // namespace

std::vector<CausalLink> read_causality(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  if (!file.root().is_list())
    file.place(file.root())
        .refuse("this is not a list; write entries of causes, effects and relations");

  std::vector<CausalLink> links;
  std::map<std::pair<Cause, Cause>, std::size_t> lines;
  for (const YamlNode& entry : file.root().items()) {
    const CatalogPlace place = file.place(entry);
    std::vector<Cause> causes;
    std::vector<Cause> effects;
    CausalLink link;
    file.read_fields(entry, "an entry",
                     {needed("causes", causes), needed("effects", effects),
                      needed("relations",
                             [&](const YamlNode& node) {
                               for (const std::string& word : file.texts(node, "relations"))
                                 link.relations.push_back(
                                     enum_word<Relation>(file.place(node), "relation", word));
                             }),
                      maybe("told_before", [&](const YamlNode& node) {
                        link.told_before = seconds_of(file, node);
                      })});
    for (const Cause cause : causes)
      for (const Cause effect : effects) {
        const auto [first, is_new] = lines.emplace(std::pair(cause, effect), place.line);
        if (!is_new)
          place.refuse(
              fmt::format("{} -> {} is listed twice, first in line {}; join their relations", cause,
                          effect, first->second));
        link.cause = cause;
        link.effect = effect;
        links.push_back(link);
      }
  }
  return links;
}

std::map<Cause, Advice> read_advice(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  std::map<Cause, Advice> advice;
  std::map<Cause, std::size_t> lines;
  file.read_pairs(
      file.root(), "the file (an advice under each class)",
      [&](const YamlNode& named, const YamlNode& its) {
        const CatalogPlace place = file.place(named);
        const Cause cause = require_class(place, file.text(named, "a class"));
        const auto [first, is_new] = lines.emplace(cause, place.line);
        if (!is_new)
          place.refuse(fmt::format("{} is listed twice, first in line {}; remove one of the two",
                                   cause, first->second));
        advice.emplace(cause, advice_of(file, its));
      });
  return advice;
}

}  // namespace faultline
