// counters.yaml and what is asked of it.
#include "rules/knowledge/counters_catalog.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

double number_of(const YamlFile& file, const YAML::Node& node, std::string_view what) {
  const std::string text = file.text(node, what);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    file.place(node).refuse(fmt::format("{} \"{}\" is not a number; write one from 0", what, text));
  return value;
}

CounterWidth width_from(const YamlFile& file, const YAML::Node& node) {
  const std::string text = file.text(node, "a width");
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  const std::string_view kind(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || bits == 0 || bits > 64 || (kind != "s" && kind != "w" && kind != ""))
    file.place(node).refuse(fmt::format("width \"{}\" is unknown; write 16s, 32w or 64", text));
  CounterWidth width{.saturates = kind == "s", .wraps = kind == "w"};
  if (bits < 64) width.most = (std::uint64_t{1} << bits) - 1;
  return width;
}

std::vector<Action> actions_of(const YamlFile& file, const YAML::Node& entry) {
  std::vector<Action> actions;
  if (!entry["actions"]) return actions;
  for (const auto& node : entry["actions"]) {
    file.require_fields(node, "an action", {"do", "command"});
    Action action{.what = file.text(file.field(node, "do"), "do")};
    if (node["command"]) action.command = file.text(node["command"], "command");
    actions.push_back(std::move(action));
  }
  return actions;
}

CounterClass class_of(const YamlFile& file, const YAML::Node& name, const YAML::Node& entry) {
  file.require_fields(entry, "a class", {"finding", "names_no_part", "says", "actions"});
  CounterClass of{.name = file.text(name, "a class"),
                  .names_no_part = file.flag(entry, "names_no_part"),
                  .says = file.text(file.field(entry, "says"), "says"),
                  .actions = actions_of(file, entry)};
  if (const YAML::Node finding = entry["finding"])
    of.finding = require_class(file.place(finding), file.text(finding, "finding"));
  return of;
}

void read_widths(const YamlFile& file, const YAML::Node& entry, CounterMeaning& counter) {
  counter.width = counter.extended = width_from(file, file.field(entry, "width"));
  if (entry["extended"]) counter.extended = width_from(file, entry["extended"]);
  if (!entry["widths"]) return;
  for (const auto& one : entry["widths"])
    counter.widths.emplace(file.text(one.first, "a tool"), width_from(file, one.second));
}

CounterMeaning counter_of(const YamlFile& file, const YAML::Node& entry,
                          const std::map<std::string, CounterClass, std::less<>>& classes) {
  file.require_fields(entry, "a counter",
                      {"name", "also", "class", "width", "extended", "widths", "suspect", "faulty",
                       "notable", "siblings", "least", "minus", "alone", "gauge", "means"});
  CounterMeaning counter;
  counter.name = file.text(file.field(entry, "name"), "name");
  const std::string of = file.text(file.field(entry, "class"), "class");
  const auto known = classes.find(of);
  if (known == classes.end())
    file.place(entry["class"])
        .refuse(fmt::format("class \"{}\" is not among classes; add it there", of));
  counter.of = &known->second;
  read_widths(file, entry, counter);
  if (entry["suspect"]) counter.suspect = number_of(file, entry["suspect"], "suspect");
  if (entry["faulty"]) counter.faulty = number_of(file, entry["faulty"], "faulty");
  if (entry["notable"]) counter.notable = number_of(file, entry["notable"], "notable");
  if (entry["least"]) counter.least = number_of(file, entry["least"], "least");
  if (entry["siblings"]) counter.siblings = number_of(file, entry["siblings"], "siblings");
  if (entry["minus"])
    for (const std::string& name : file.texts(entry, "minus"))
      counter.minus.push_back(CountersCatalog::normalised(name));
  counter.alone = file.flag(entry, "alone");
  counter.gauge = file.flag(entry, "gauge");
  counter.means = file.text(file.field(entry, "means"), "means");
  return counter;
}

std::string numbers_as_hash(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

void set_from(const YamlFile& file, const char* name, std::set<std::string, std::less<>>& into) {
  if (!file.root()[name]) return;
  for (std::string& text : file.texts(file.root(), name)) into.insert(std::move(text));
}

}  // namespace

std::string CountersCatalog::normalised(std::string_view spelling) {
  std::string out;
  for (char c : spelling)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '#')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::size_t CountersCatalog::index_of(const std::string& text) const {
  auto known = by_spelling_.find(text);
  if (known == by_spelling_.end()) known = by_spelling_.find(numbers_as_hash(text));
  return known == by_spelling_.end() ? kNone : known->second;
}

const CounterMeaning* CountersCatalog::find(std::string_view spelling) const {
  constexpr std::size_t kLongest = 128;
  if (spelling.size() > kLongest) return nullptr;
  std::string text = normalised(spelling);
  std::size_t index = index_of(text);
  for (const std::string& prefix : prefixes_)
    if (index == kNone && text.starts_with(prefix))
      index = index_of(text = text.substr(prefix.size()));
  for (const std::string& suffix : suffixes_)
    if (index == kNone && text.ends_with(suffix))
      index = index_of(text = text.substr(0, text.size() - suffix.size()));
  return index == kNone ? nullptr : &counters_[index];
}

CounterWidth CountersCatalog::width_of(const CounterMeaning& counter, std::string_view tool) const {
  const auto own = counter.widths.find(tool);
  if (own != counter.widths.end()) return own->second;
  if (extended_tools_.contains(tool)) return counter.extended;
  CounterWidth width = counter.width;
  width.open = either_tools_.contains(tool) && width.most != counter.extended.most;
  return width;
}

const std::string* CountersCatalog::clear_age(std::string_view tool) const {
  const auto known = clear_age_.find(tool);
  return known == clear_age_.end() ? nullptr : &known->second;
}

CountersCatalog read_counters(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  file.require_fields(file.root(), "the file",
                      {"prefixes", "suffixes", "extended_tools", "either_tools", "clear_age",
                       "over_after", "classes", "counters"});
  CountersCatalog catalog;
  catalog.over_after_ = number_of(file, file.field(file.root(), "over_after"), "over_after");
  for (const std::string& one : file.texts(file.root(), "prefixes"))
    catalog.prefixes_.push_back(CountersCatalog::normalised(one));
  for (const std::string& one : file.texts(file.root(), "suffixes"))
    catalog.suffixes_.push_back(CountersCatalog::normalised(one));
  set_from(file, "extended_tools", catalog.extended_tools_);
  set_from(file, "either_tools", catalog.either_tools_);
  for (const auto& one : file.root()["clear_age"])
    catalog.clear_age_.emplace(file.text(one.first, "a tool"), file.text(one.second, "a name"));
  for (const auto& one : file.field(file.root(), "classes")) {
    CounterClass of = class_of(file, one.first, one.second);
    catalog.classes_.emplace(of.name, of);
  }
  const YAML::Node counters = file.field(file.root(), "counters");
  if (!counters.IsSequence())
    file.place(counters).refuse("counters is not a list; write its entries as a list");
  for (const auto& entry : counters) {
    CounterMeaning counter = counter_of(file, entry, catalog.classes_);
    std::vector<std::string> spellings{counter.name};
    if (entry["also"])
      for (std::string& one : file.texts(entry, "also")) spellings.push_back(std::move(one));
    for (const std::string& spelling : spellings)
      if (!catalog.by_spelling_
               .emplace(CountersCatalog::normalised(spelling), catalog.counters_.size())
               .second)
        file.place(entry).refuse(
            fmt::format("\"{}\" is listed already; remove one of the two", spelling));
    catalog.counters_.push_back(std::move(counter));
  }
  return catalog;
}

}  // namespace faultline
