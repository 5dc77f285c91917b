// settings.yaml and what is asked of it.
#include "rules/knowledge/settings_catalog.h"

#include <algorithm>
#include <charconv>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

bool names(std::string_view pattern, std::string_view text) {
  return pattern.ends_with('*') ? text.starts_with(pattern.substr(0, pattern.size() - 1))
                                : text == pattern;
}

bool is_like(std::string_view pattern, std::string_view value) {
  if (pattern.size() < 2 || !pattern.starts_with('*')) return names(pattern, value);
  const std::string_view inner = pattern.substr(1);
  return inner.ends_with('*') ? value.find(inner.substr(0, inner.size() - 1)) != value.npos
                              : value.ends_with(inner);
}

bool is_like_any(const std::vector<std::string>& patterns, std::string_view value) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return is_like(pattern, value); });
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// A bare name is an environment variable.
std::string question_of(const YamlFile& file, const YAML::Node& node) {
  std::string name = file.text(node, "a setting");
  if (name.find('*') < name.size() - 1)
    file.place(node).refuse(fmt::format("\"{}\" has a * in it; put it at the end", name));
  return name.find(' ') == std::string::npos ? "environment " + name : name;
}

template <class Enum>
void read_word(const YamlFile& file, const YAML::Node& entry, const char* field, Enum& into) {
  if (entry[field])
    into = enum_word<Enum>(file.place(entry[field]), field, file.text(entry[field], field));
}

void read_text(const YamlFile& file, const YAML::Node& entry, const char* field,
               std::string& into) {
  if (entry[field]) into = file.text(entry[field], field);
}

void read_confidence(const YamlFile& file, const YAML::Node& entry,
                     std::optional<double>& confidence) {
  if (!entry["confidence"]) return;
  double& into = confidence.emplace();
  const std::string text = file.text(entry["confidence"], "confidence");
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, into);
  if (read.ec != std::errc() || read.ptr != end || !(into > 0 && into < 1))
    file.place(entry["confidence"])
        .refuse(fmt::format("confidence \"{}\" is not between 0 and 1; write one that is", text));
}

void read_class(const YamlFile& file, const YAML::Node& entry, Cause& into) {
  if (const YAML::Node named = entry["class"])
    into = require_class(file.place(named), file.text(named, "class"));
}

ComparedSetting compared_of(const YamlFile& file, const YAML::Node& entry) {
  ComparedSetting setting;
  file.field(entry, "between");
  read_word(file, entry, "between", setting.between);
  read_word(file, entry, "absent", setting.absent);
  read_word(file, entry, "severity", setting.severity);
  if (entry["if_not_started"])
    read_word(file, entry, "if_not_started", setting.if_not_started.emplace());
  read_class(file, entry, setting.cause);
  read_confidence(file, entry, setting.confidence);
  read_text(file, entry, "name", setting.name);
  read_text(file, entry, "why", setting.why);
  return setting;
}

SuspiciousValue suspicious_of(const YamlFile& file, const YAML::Node& entry) {
  SuspiciousValue value;
  value.setting = question_of(file, file.field(entry, "setting"));
  value.values = file.texts(entry, "values");
  if (entry["except"]) value.except = file.texts(entry, "except");
  if (entry["lacks"]) value.lacks = file.texts(entry, "lacks");
  if (entry["without"]) value.without = file.text(entry["without"], "without");
  if (entry["at_least"]) {
    const std::string number = file.text(entry["at_least"], "at_least");
    value.at_least = number_of(number);
    if (!value.at_least)
      file.place(entry["at_least"])
          .refuse(fmt::format("at_least \"{}\" is not a whole number; write 100", number));
  }
  value.why = file.text(file.field(entry, "why"), "why");
  read_word(file, entry, "where", value.where);
  read_word(file, entry, "severity", value.severity);
  read_class(file, entry, value.cause);
  read_confidence(file, entry, value.confidence);
  return value;
}

YAML::Node entries(const YamlFile& file, const char* name) {
  const YAML::Node list = file.field(file.root(), name);
  if (!list.IsSequence())
    file.place(list).refuse(fmt::format("{} is not a list; write its entries as a list", name));
  return list;
}

}  // namespace

bool SuspiciousValue::is_about(std::string_view question) const { return names(setting, question); }

bool SuspiciousValue::matches(std::string_view question, std::string_view value) const {
  if (!is_about(question) || !is_like_any(values, value) || is_like_any(except, value))
    return false;
  if (at_least && number_of(value).value_or(*at_least - 1) < *at_least) return false;
  return std::ranges::none_of(
      lacks, [&](const std::string& text) { return value.find(text) != value.npos; });
}

const ComparedSetting* SettingsCatalog::find(std::string_view question) const {
  if (const auto exact = compared.find(question); exact != compared.end()) return &exact->second;
  const ComparedSetting* best = nullptr;
  std::size_t longest = 0;
  for (const auto& [pattern, setting] : compared)
    if (pattern.ends_with('*') && names(pattern, question) && pattern.size() > longest) {
      best = &setting;
      longest = pattern.size();
    }
  return best;
}

SettingsCatalog read_settings(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  file.require_fields(file.root(), "the file", {"compare", "suspicious"});
  SettingsCatalog catalog;
  std::map<std::string, std::size_t> lines;
  for (const auto& entry : entries(file, "compare")) {
    file.require_fields(entry, "an entry of compare",
                        {"settings", "between", "absent", "class", "severity", "if_not_started",
                         "confidence", "name", "why"});
    const ComparedSetting compared = compared_of(file, entry);
    file.texts(entry, "settings");
    for (const auto& node : entry["settings"]) {
      const std::string question = question_of(file, node);
      const auto [first, is_new] = lines.emplace(question, file.place(node).line);
      if (!is_new)
        file.place(node).refuse(
            fmt::format("\"{}\" is listed twice, first in line {}; remove one of the two", question,
                        first->second));
      catalog.compared.emplace(question, compared);
    }
  }
  for (const auto& entry : entries(file, "suspicious")) {
    file.require_fields(entry, "an entry of suspicious",
                        {"setting", "values", "except", "at_least", "lacks", "without", "where",
                         "class", "severity", "confidence", "why"});
    catalog.suspicious.push_back(suspicious_of(file, entry));
  }
  return catalog;
}

}  // namespace faultline
