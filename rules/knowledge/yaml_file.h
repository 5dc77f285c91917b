// A YAML file of the catalog. yaml-cpp keeps a key that stands twice and knows no schema, so both
// are checked here; whatever is wrong is refused with the file, the line in it and the mend.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/catalog_words.h"

namespace faultline {

struct YamlField;

class YamlFile {
 public:
  YamlFile(std::string_view file, std::string_view text);

  const YAML::Node& root() const { return root_; }
  CatalogPlace place(const YAML::Node& node) const { return line(node.Mark()); }

  // A mapping that holds these fields, each once, and no others; they are read in this order.
  void read_fields(const YAML::Node& entry, std::string_view what,
                   std::initializer_list<YamlField> fields) const;

  // A field that must be there.
  YAML::Node field(const YAML::Node& entry, const char* name) const;

  // A mapping whose keys are names of the file's own; `read` takes each key and its value.
  template <class Read>
  void read_pairs(const YAML::Node& node, std::string_view what, Read read) const {
    if (!node.IsMap())
      place(node).refuse(fmt::format("{} is not a mapping; write names with values", what));
    for (const auto& pair : node) read(pair.first, pair.second);
  }

  std::string text(const YAML::Node& node, std::string_view what) const;

  // Of at least one text.
  std::vector<std::string> texts(const YAML::Node& list, std::string_view name) const;

  void read(const YAML::Node& node, std::string_view name, std::string& into) const;
  void read(const YAML::Node& node, std::string_view name, std::vector<std::string>& into) const;
  void read(const YAML::Node& node, std::string_view name, double& into) const;
  void read(const YAML::Node& node, std::string_view name, bool& into) const;
  void read(const YAML::Node& node, std::string_view name, Cause& into) const;
  void read(const YAML::Node& node, std::string_view name, std::vector<Action>& into) const;

  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const YAML::Node& node, std::string_view name, Enum& into) const {
    into = enum_word<Enum>(place(node), name, text(node, name));
  }

  // By their words.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const YAML::Node& node, std::string_view name, std::vector<Enum>& into) const {
    require_list(node, name);
    for (const auto& item : node) {
      text(item, fmt::format("an item of {}", name));
      read(item, name, into.emplace_back());
    }
  }

  template <class Value>
  void read(const YAML::Node& node, std::string_view name, std::optional<Value>& into) const {
    read(node, name, into.emplace());
  }

  // A number between 0 and 1, and neither of them.
  double probability(const YAML::Node& node, std::string_view name) const;

 private:
  CatalogPlace line(const YAML::Mark& mark) const;
  void require_list(const YAML::Node& node, std::string_view name) const;

  std::string_view file_;
  YAML::Node root_;
};

struct YamlField {
  const char* name;
  bool is_needed;
  std::function<void(const YamlFile&, const YAML::Node&)> read;
};

// `into` is what takes the field's value, or what is called with its node.
template <class Into>
YamlField field_into(const char* name, bool is_needed, Into&& into) {
  if constexpr (std::is_invocable_v<Into, const YAML::Node&>)
    return {name, is_needed, [into](const YamlFile&, const YAML::Node& node) { into(node); }};
  else
    return {name, is_needed, [name, &into](const YamlFile& file, const YAML::Node& node) {
              file.read(node, name, into);
            }};
}

template <class Into>
YamlField needed(const char* name, Into&& into) {
  return field_into(name, true, std::forward<Into>(into));
}

template <class Into>
YamlField maybe(const char* name, Into&& into) {
  return field_into(name, false, std::forward<Into>(into));
}

// A list that must be there; `read` takes each of its entries.
template <class Read>
YamlField each(const char* name, Read read) {
  return {name, true, [name, read](const YamlFile& file, const YAML::Node& list) {
            if (!list.IsSequence())
              file.place(list).refuse(
                  fmt::format("{} is not a list; write its entries as a list", name));
            for (const auto& entry : list) read(entry);
          }};
}

}  // namespace faultline
