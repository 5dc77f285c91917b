// A YAML file of the catalog. YAML lets a key stand twice and knows no schema, so both are checked
// here. An error names the file, the line in it and the correction.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/yaml_node.h"

namespace faultline {

struct YamlField;

class YamlFile {
 public:
  YamlFile(std::string_view file, std::string_view text);

  const YamlNode& root() const { return tree_.root(); }
  CatalogPlace place(const YamlNode& node) const { return {file_, node.line()}; }

  // A mapping that holds these fields, each once, and no others; they are read in this order.
  void read_fields(const YamlNode& entry, std::string_view what,
                   std::initializer_list<YamlField> fields) const;

  // A field that must be there.
  const YamlNode& field(const YamlNode& entry, const char* name) const;

  // A mapping whose keys are names of the file's own; `read` takes each key and its value.
  template <class Read>
  void read_pairs(const YamlNode& node, std::string_view what, Read read) const {
    if (!node.is_map())
      place(node).refuse(fmt::format("{} is not a mapping; write names with values", what));
    for (const auto& [key, value] : node.fields()) read(key, value);
  }

  std::string text(const YamlNode& node, std::string_view what) const;

  // A list of at least one text.
  std::vector<std::string> texts(const YamlNode& list, std::string_view name) const;

  void read(const YamlNode& node, std::string_view name, std::string& into) const;
  void read(const YamlNode& node, std::string_view name, std::vector<std::string>& into) const;
  void read(const YamlNode& node, std::string_view name, double& into) const;
  void read(const YamlNode& node, std::string_view name, bool& into) const;
  void read(const YamlNode& node, std::string_view name, Cause& into) const;
  void read(const YamlNode& node, std::string_view name, std::vector<Action>& into) const;

  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const YamlNode& node, std::string_view name, Enum& into) const {
    into = enum_word<Enum>(place(node), name, text(node, name));
  }

  // A list of enum words.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const YamlNode& node, std::string_view name, std::vector<Enum>& into) const {
    require_list(node, name);
    for (const YamlNode& item : node.items()) {
      text(item, fmt::format("an item of {}", name));
      read(item, name, into.emplace_back());
    }
  }

  template <class Value>
  void read(const YamlNode& node, std::string_view name, std::optional<Value>& into) const {
    read(node, name, into.emplace());
  }

  // A number above 0 and below 1.
  double probability(const YamlNode& node, std::string_view name) const;

 private:
  void require_list(const YamlNode& node, std::string_view name) const;
  void require_text(const YamlNode& node, std::string_view what) const;

  std::string_view file_;
  YamlTree tree_;
};

struct YamlField {
  const char* name;
  bool is_needed;
  std::function<void(const YamlFile&, const YamlNode&)> read;
};

// `into` is a variable for the field's value, or a function that is called with its node.
template <class Into>
YamlField field_into(const char* name, bool is_needed, Into&& into) {
  if constexpr (std::is_invocable_v<Into, const YamlNode&>)
    return {name, is_needed, [into](const YamlFile&, const YamlNode& node) { into(node); }};
  else
    return {name, is_needed, [name, &into](const YamlFile& file, const YamlNode& node) {
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
  return {name, true, [name, read](const YamlFile& file, const YamlNode& list) {
            if (!list.is_list())
              file.place(list).refuse(
                  fmt::format("{} is not a list; write its entries as a list", name));
            for (const YamlNode& entry : list.items()) read(entry);
          }};
}

}  // namespace faultline
