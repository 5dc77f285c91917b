#include "rules/knowledge/yaml_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace faultline {
namespace {

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

YamlFile::YamlFile(std::string_view file, std::string_view text) : file_(file) {
  try {
    root_ = YAML::Load(std::string(text));
  } catch (const YAML::ParserException& error) {
    line(error.mark).refuse(error.msg + "; mend the YAML there");
  }
}

void YamlFile::read_fields(const YAML::Node& entry, std::string_view what,
                           std::initializer_list<YamlField> fields) const {
  std::vector<std::string_view> names;
  for (const YamlField& field : fields) names.emplace_back(field.name);
  const std::string form = fmt::format("{} has the fields {}", what, fmt::join(names, ", "));
  if (!entry.IsMap()) place(entry).refuse("this is not a mapping; " + form);
  std::set<std::string> seen;
  for (const auto& field : entry) {
    const std::string name = text(field.first, "a field's name");
    if (std::ranges::find(names, name) == names.end())
      place(field.first).refuse(fmt::format("field \"{}\" is unknown; {}", name, form));
    if (!seen.insert(name).second)
      place(field.first).refuse(fmt::format("{} is given twice; remove one of the two", name));
  }
  for (const YamlField& one : fields)
    if (one.is_needed || entry[one.name]) one.read(*this, field(entry, one.name));
}

YAML::Node YamlFile::field(const YAML::Node& entry, const char* name) const {
  const YAML::Node value = entry[name];
  if (!value) place(entry).refuse(fmt::format("{0} is missing; add \"{0}:\" to this entry", name));
  return value;
}

std::string YamlFile::text(const YAML::Node& node, std::string_view what) const {
  if (!node.IsScalar() || node.Scalar().empty())
    place(node).refuse(fmt::format("{} is not a text; write one", what));
  return node.Scalar();
}

std::vector<std::string> YamlFile::texts(const YAML::Node& list, std::string_view name) const {
  require_list(list, name);
  std::vector<std::string> items;
  for (const auto& item : list) items.push_back(text(item, fmt::format("an item of {}", name)));
  return items;
}

void YamlFile::read(const YAML::Node& node, std::string_view name, std::string& into) const {
  into = text(node, name);
}

void YamlFile::read(const YAML::Node& node, std::string_view name,
                    std::vector<std::string>& into) const {
  into = texts(node, name);
}

void YamlFile::read(const YAML::Node& node, std::string_view name, double& into) const {
  const std::optional<double> value = number_in(text(node, name));
  if (!value)
    place(node).refuse(fmt::format("{} \"{}\" is not a number; write one", name, node.Scalar()));
  into = *value;
}

void YamlFile::read(const YAML::Node& node, std::string_view name, bool& into) const {
  constexpr std::string_view kWords[] = {"true", "false"};
  const std::string word = text(node, name);
  require_word(place(node), name, word, kWords);
  into = word == kWords[0];
}

void YamlFile::read(const YAML::Node& node, std::string_view name, Cause& into) const {
  into = require_class(place(node), text(node, name));
}

void YamlFile::read(const YAML::Node& node, std::string_view name,
                    std::vector<Action>& into) const {
  if (!node.IsSequence() || node.size() == 0)
    place(node).refuse(fmt::format("{} is not a list; write at least one \"- do:\"", name));
  for (const auto& entry : node) {
    Action& action = into.emplace_back();
    read_fields(entry, "an action",
                {needed("do", action.what), maybe("where", action.where),
                 maybe("command", action.command)});
  }
}

double YamlFile::probability(const YAML::Node& node, std::string_view name) const {
  const std::optional<double> value = number_in(text(node, name));
  if (!value || !(*value > 0 && *value < 1))
    place(node).refuse(
        fmt::format("{} \"{}\" is not between 0 and 1; write one that is", name, node.Scalar()));
  return *value;
}

CatalogPlace YamlFile::line(const YAML::Mark& mark) const {
  // yaml-cpp has no mark (-1) for what stands nowhere, such as an empty document.
  return {file_, static_cast<std::size_t>(std::max(mark.line, 0)) + 1};
}

void YamlFile::require_list(const YAML::Node& node, std::string_view name) const {
  if (!node.IsSequence() || node.size() == 0)
    place(node).refuse(fmt::format("{0} is not a list; write {0}: [one, another]", name));
}

}  // namespace faultline
