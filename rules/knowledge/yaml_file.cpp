#include "rules/knowledge/yaml_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace faultline {
namespace {

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_text(const YamlNode& node) { return node.is_text() && !node.text().empty(); }

}  // namespace

YamlFile::YamlFile(std::string_view file, std::string_view text) : file_(file), tree_(text) {
  if (const YamlFault& fault = tree_.fault(); !fault.what.empty())
    CatalogPlace{file_, fault.line}.refuse(fault.what);
}

void YamlFile::read_fields(const YamlNode& entry, std::string_view what,
                           std::initializer_list<YamlField> fields) const {
  std::vector<std::string_view> names;
  for (const YamlField& field : fields) names.emplace_back(field.name);
  const auto form = [&] {
    return fmt::format("{} has the fields {}", what, fmt::join(names, ", "));
  };
  if (!entry.is_map()) place(entry).refuse("this is not a mapping; " + form());
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : entry.fields()) {
    require_text(key, "a field's name");
    const std::string_view name = key.text();
    if (std::ranges::find(names, name) == names.end())
      place(key).refuse(fmt::format("field \"{}\" is unknown; {}", name, form()));
    if (std::ranges::find(seen, name) != seen.end())
      place(key).refuse(fmt::format("{} is given twice; remove one of the two", name));
    seen.push_back(name);
  }
  for (const YamlField& one : fields)
    if (one.is_needed || entry.find(one.name) != nullptr) one.read(*this, field(entry, one.name));
}

const YamlNode& YamlFile::field(const YamlNode& entry, const char* name) const {
  const YamlNode* value = entry.find(name);
  if (value == nullptr)
    place(entry).refuse(fmt::format("{0} is missing; add \"{0}:\" to this entry", name));
  return *value;
}

void YamlFile::require_text(const YamlNode& node, std::string_view what) const {
  if (!has_text(node)) place(node).refuse(fmt::format("{} is not a text; write one", what));
}

std::string YamlFile::text(const YamlNode& node, std::string_view what) const {
  require_text(node, what);
  return std::string(node.text());
}

std::vector<std::string> YamlFile::texts(const YamlNode& list, std::string_view name) const {
  require_list(list, name);
  std::vector<std::string> items;
  for (const YamlNode& item : list.items()) {
    if (!has_text(item))
      place(item).refuse(fmt::format("an item of {} is not a text; write one", name));
    items.emplace_back(item.text());
  }
  return items;
}

void YamlFile::read(const YamlNode& node, std::string_view name, std::string& into) const {
  into = text(node, name);
}

void YamlFile::read(const YamlNode& node, std::string_view name,
                    std::vector<std::string>& into) const {
  into = texts(node, name);
}

void YamlFile::read(const YamlNode& node, std::string_view name, double& into) const {
  const std::optional<double> value = number_in(text(node, name));
  if (!value)
    place(node).refuse(fmt::format("{} \"{}\" is not a number; write one", name, node.text()));
  into = *value;
}

void YamlFile::read(const YamlNode& node, std::string_view name, bool& into) const {
  constexpr std::string_view kWords[] = {"true", "false"};
  const std::string word = text(node, name);
  require_word(place(node), name, word, kWords);
  into = word == kWords[0];
}

void YamlFile::read(const YamlNode& node, std::string_view name, Cause& into) const {
  into = require_class(place(node), text(node, name));
}

void YamlFile::read(const YamlNode& node, std::string_view name, std::vector<Action>& into) const {
  if (!node.is_list() || node.items().empty())
    place(node).refuse(fmt::format("{} is not a list; write at least one \"- do:\"", name));
  for (const YamlNode& entry : node.items()) {
    Action& action = into.emplace_back();
    read_fields(entry, "an action",
                {needed("do", action.what), maybe("where", action.where),
                 maybe("command", action.command)});
  }
}

double YamlFile::probability(const YamlNode& node, std::string_view name) const {
  const std::optional<double> value = number_in(text(node, name));
  if (!value || !(*value > 0 && *value < 1))
    place(node).refuse(
        fmt::format("{} \"{}\" is not between 0 and 1; write such a number", name, node.text()));
  return *value;
}

void YamlFile::require_list(const YamlNode& node, std::string_view name) const {
  if (!node.is_list() || node.items().empty())
    place(node).refuse(fmt::format("{0} is not a list; write {0}: [one, another]", name));
}

}  // namespace faultline
