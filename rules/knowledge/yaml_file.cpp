#include "rules/knowledge/yaml_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace faultline {

YamlFile::YamlFile(std::string_view file, std::string_view text) : file_(file) {
  try {
    root_ = YAML::Load(std::string(text));
  } catch (const YAML::ParserException& error) {
    line(error.mark).refuse(error.msg + "; mend the YAML there");
  }
}

void YamlFile::require_fields(const YAML::Node& entry, std::string_view what,
                              std::initializer_list<std::string_view> fields) const {
  const std::string form = fmt::format("{} has the fields {}", what, fmt::join(fields, ", "));
  if (!entry.IsMap()) place(entry).refuse("this is not a mapping; " + form);
  std::set<std::string> seen;
  for (const auto& field : entry) {
    const std::string name = text(field.first, "a field's name");
    if (std::ranges::find(fields, name) == fields.end())
      place(field.first).refuse(fmt::format("field \"{}\" is unknown; {}", name, form));
    if (!seen.insert(name).second)
      place(field.first).refuse(fmt::format("{} is given twice; remove one of the two", name));
  }
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

bool YamlFile::flag(const YAML::Node& entry, const char* name) const {
  if (!entry[name]) return false;
  const std::string value = text(entry[name], name);
  if (value != "true" && value != "false")
    place(entry[name]).refuse(fmt::format("{} is true or false", name));
  return value == "true";
}

std::vector<std::string> YamlFile::texts(const YAML::Node& entry, const char* name) const {
  const YAML::Node list = field(entry, name);
  if (!list.IsSequence() || list.size() == 0)
    place(list).refuse(fmt::format("{0} is not a list; write {0}: [one, another]", name));
  std::vector<std::string> items;
  for (const auto& item : list) items.push_back(text(item, fmt::format("an item of {}", name)));
  return items;
}

CatalogPlace YamlFile::line(const YAML::Mark& mark) const {
  // yaml-cpp has no mark (-1) for what stands nowhere, such as an empty document.
  return {file_, static_cast<std::size_t>(std::max(mark.line, 0)) + 1};
}

}  // namespace faultline
