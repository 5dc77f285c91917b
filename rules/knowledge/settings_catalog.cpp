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
std::string question_of(const YamlFile& file, const YamlNode& node) {
  std::string name = file.text(node, "a setting");
  if (name.find('*') < name.size() - 1)
    file.place(node).refuse(fmt::format("\"{}\" has a * before its end; put it at the end", name));
  return name.find(' ') == std::string::npos ? "environment " + name : name;
}

// Reads an entry of compare; the names of its settings go into `settings`.
ComparedSetting compared_of(const YamlFile& file, const YamlNode& entry,
                            std::vector<std::string>& settings) {
  ComparedSetting setting;
  const auto read_confidence = [&](const YamlNode& node) {
    setting.confidence = file.probability(node, "confidence");
  };
  file.read_fields(
      entry, "an entry of compare",
      {needed("settings", settings), needed("between", setting.between),
       maybe("absent", setting.absent), maybe("class", setting.cause),
       maybe("severity", setting.severity), maybe("if_not_started", setting.if_not_started),
       maybe("confidence", read_confidence), maybe("name", setting.name),
       maybe("why", setting.why)});
  return setting;
}

SuspiciousValue suspicious_of(const YamlFile& file, const YamlNode& entry) {
  SuspiciousValue value;
  const auto read_setting = [&](const YamlNode& node) { value.setting = question_of(file, node); };
  const auto read_least = [&](const YamlNode& node) {
    const std::string number = file.text(node, "at_least");
    value.at_least = number_of(number);
    if (!value.at_least)
      file.place(node).refuse(
          fmt::format("at_least \"{}\" is not a whole number; write one such as 100", number));
  };
  const auto read_confidence = [&](const YamlNode& node) {
    value.confidence = file.probability(node, "confidence");
  };
  file.read_fields(
      entry, "an entry of suspicious",
      {needed("setting", read_setting), needed("values", value.values),
       maybe("except", value.except), maybe("at_least", read_least), maybe("lacks", value.lacks),
       maybe("without", value.without), maybe("where", value.where), maybe("class", value.cause),
       maybe("severity", value.severity), maybe("confidence", read_confidence),
       needed("why", value.why)});
  return value;
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
  SettingsCatalog catalog;
  std::map<std::string, std::size_t> lines;
  const auto read_compared = [&](const YamlNode& entry) {
    std::vector<std::string> settings;
    const ComparedSetting compared = compared_of(file, entry, settings);
    for (const YamlNode& node : file.field(entry, "settings").items()) {
      const std::string question = question_of(file, node);
      const auto [first, is_new] = lines.emplace(question, file.place(node).line);
      if (!is_new)
        file.place(node).refuse(
            fmt::format("\"{}\" is listed twice, first in line {}; remove one of the two", question,
                        first->second));
      catalog.compared.emplace(question, compared);
    }
  };
  file.read_fields(file.root(), "the file",
                   {each("compare", read_compared), each("suspicious", [&](const YamlNode& entry) {
                      catalog.suspicious.push_back(suspicious_of(file, entry));
                    })});
  return catalog;
}

}  // namespace faultline
