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

CounterWidth width_from(const YamlFile& file, const YamlNode& node) {
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

CounterClass class_of(const YamlFile& file, const YamlNode& name, const YamlNode& entry) {
  CounterClass of{.name = file.text(name, "a class")};
  file.read_fields(entry, "a class",
                   {maybe("finding", of.finding), maybe("names_no_part", of.names_no_part),
                    needed("says", of.says), maybe("actions", of.actions)});
  return of;
}

CounterMeaning counter_of(const YamlFile& file, const YamlNode& entry,
                          const std::map<std::string, CounterClass, std::less<>>& classes,
                          std::vector<std::string>& also) {
  CounterMeaning counter;
  const auto read_class = [&](const YamlNode& node) {
    const auto known = classes.find(file.text(node, "class"));
    if (known == classes.end())
      file.place(node).refuse(
          fmt::format("class \"{}\" is not listed in classes; add it there", node.text()));
    counter.of = &known->second;
  };
  const auto read_width = [&](const YamlNode& node) {
    counter.width = counter.extended = width_from(file, node);
  };
  const auto read_widths = [&](const YamlNode& node) {
    file.read_pairs(node, "widths", [&](const YamlNode& tool, const YamlNode& width) {
      counter.widths.emplace(file.text(tool, "a tool"), width_from(file, width));
    });
  };
  const auto read_minus = [&](const YamlNode& node) {
    for (const std::string& name : file.texts(node, "minus"))
      counter.minus.push_back(CountersCatalog::normalised(name));
  };
  file.read_fields(
      entry, "a counter",
      {needed("name", counter.name), maybe("also", also), needed("class", read_class),
       needed("width", read_width),
       maybe("extended", [&](const YamlNode& node) { counter.extended = width_from(file, node); }),
       maybe("widths", read_widths), maybe("suspect", counter.suspect),
       maybe("faulty", counter.faulty), maybe("notable", counter.notable),
       maybe("of_all", counter.of_all), maybe("most_share", counter.most_share),
       maybe("siblings", counter.siblings), maybe("least", counter.least),
       maybe("minus", read_minus), maybe("alone", counter.alone), maybe("gauge", counter.gauge),
       needed("means", counter.means)});
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

// Reads texts as they are, or in the form in which spellings are compared.
template <class Texts>
auto texts_into(const YamlFile& file, const char* name, Texts& into, bool normalise) {
  return [&file, &into, name, normalise](const YamlNode& node) {
    for (const std::string& text : file.texts(node, name))
      into.insert(into.end(), normalise ? CountersCatalog::normalised(text) : text);
  };
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
  CountersCatalog catalog;
  const auto read_clear_age = [&](const YamlNode& tools) {
    file.read_pairs(tools, "clear_age", [&](const YamlNode& tool, const YamlNode& age) {
      catalog.clear_age_.emplace(file.text(tool, "a tool"), file.text(age, "a name"));
    });
  };
  const auto read_classes = [&](const YamlNode& classes) {
    file.read_pairs(classes, "classes", [&](const YamlNode& named, const YamlNode& its) {
      CounterClass of = class_of(file, named, its);
      catalog.classes_.emplace(of.name, of);
    });
  };
  const auto read_counter = [&](const YamlNode& entry) {
    std::vector<std::string> spellings;
    CounterMeaning counter = counter_of(file, entry, catalog.classes_, spellings);
    spellings.insert(spellings.begin(), counter.name);
    for (const std::string& spelling : spellings)
      if (!catalog.by_spelling_
               .emplace(CountersCatalog::normalised(spelling), catalog.counters_.size())
               .second)
        file.place(entry).refuse(
            fmt::format("\"{}\" is listed already; remove one of the two", spelling));
    catalog.counters_.push_back(std::move(counter));
  };
  file.read_fields(
      file.root(), "the file",
      {needed("prefixes", texts_into(file, "prefixes", catalog.prefixes_, true)),
       needed("suffixes", texts_into(file, "suffixes", catalog.suffixes_, true)),
       maybe("extended_tools", texts_into(file, "extended_tools", catalog.extended_tools_, false)),
       maybe("either_tools", texts_into(file, "either_tools", catalog.either_tools_, false)),
       maybe("clear_age", read_clear_age), needed("over_after", catalog.over_after_),
       needed("classes", read_classes), each("counters", read_counter)});
  return catalog;
}

}  // namespace faultline
