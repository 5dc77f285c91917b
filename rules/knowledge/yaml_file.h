// A YAML file of the catalog. yaml-cpp keeps a key that stands twice and knows no schema, so both
// are checked here; whatever is wrong is refused with the file, the line in it and the mend.
#pragma once

#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/catalog_words.h"

namespace faultline {

class YamlFile {
 public:
  YamlFile(std::string_view file, std::string_view text);

  const YAML::Node& root() const { return root_; }
  CatalogPlace place(const YAML::Node& node) const { return line(node.Mark()); }

  // A mapping that holds some of these fields, each once, and no others.
  void require_fields(const YAML::Node& entry, std::string_view what,
                      std::initializer_list<std::string_view> fields) const;

  // A field that must be there.
  YAML::Node field(const YAML::Node& entry, const char* name) const;

  std::string text(const YAML::Node& node, std::string_view what) const;

  // true or false; false if it is not there.
  bool flag(const YAML::Node& entry, const char* name) const;

  // A list of at least one text.
  std::vector<std::string> texts(const YAML::Node& entry, const char* name) const;

 private:
  CatalogPlace line(const YAML::Mark& mark) const;

  std::string_view file_;
  YAML::Node root_;
};

}  // namespace faultline
