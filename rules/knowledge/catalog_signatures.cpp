// signatures/*.yaml, and a user's files in the same form.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr const char* kForm = "a signature";

// nccl.ib.retry_exceeded
bool is_dotted_name(std::string_view id) {
  const bool known_characters = std::ranges::all_of(id, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_' || c == '.';
  });
  return known_characters && id.find('.') != std::string_view::npos && id.front() != '.' &&
         id.back() != '.' && id.find("..") == std::string_view::npos;
}

double number_of(const YamlFile& file, const YAML::Node& node, std::string_view what) {
  const std::string text = file.text(node, what);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    file.place(node).refuse(fmt::format("{} \"{}\" is not a number; write one", what, text));
  return number;
}

Action action_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(entry, "an action", {"do", "where", "command"});
  Action action{.what = file.text(file.field(entry, "do"), "do")};
  if (entry["where"]) action.where = file.text(entry["where"], "where");
  if (entry["command"]) action.command = file.text(entry["command"], "command");
  return action;
}

template <class Enum>
void read_word(const YamlFile& file, const YAML::Node& entry, const char* name, Enum& value) {
  if (const YAML::Node node = entry[name])
    value = enum_word<Enum>(file.place(node), name, file.text(node, name));
}

Storm storm_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(entry, "a storm", {"count", "within"});
  const double count = number_of(file, file.field(entry, "count"), "count");
  if (count < 1 || count > 1e9)
    file.place(entry["count"]).refuse(fmt::format("count {} is none; use 2 or more", count));
  Storm storm{.count = static_cast<std::uint64_t>(count)};
  read_word(file, entry, "within", storm.within);
  return storm;
}

bool yes_or_no(const YamlFile& file, const YAML::Node& node, std::string_view what) {
  const std::string text = file.text(node, what);
  constexpr std::string_view kWords[] = {"true", "false"};
  require_word(file.place(node), what, text, kWords);
  return text == "true";
}

MessageSignature signature_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(
      entry, kForm,
      {"id",       "class",  "title", "severity", "weight",  "blames",     "confidence",
       "dialect",  "levels", "place", "literals", "pattern", "versions",   "storm",
       "recovers", "lasts",  "marks", "actions",  "matches", "matches_not"});
  const auto text = [&](const char* name) { return file.text(file.field(entry, name), name); };
  MessageSignature signature{.id = text("id"), .title = text("title")};
  const CatalogPlace place = file.place(entry);
  signature.file = fmt::format("{}:{}", place.file, place.line);
  if (!is_dotted_name(signature.id))
    file.place(entry["id"])
        .refuse(fmt::format("id \"{}\" is not a dotted name; write one such as ours.disk_full",
                            signature.id));
  signature.cause = require_class(file.place(entry["class"]), text("class"));
  read_word(file, entry, "severity", signature.severity);
  read_word(file, entry, "weight", signature.weight);
  read_word(file, entry, "blames", signature.blames);
  if (entry["confidence"])
    signature.confidence = number_of(file, entry["confidence"], "confidence");
  if (entry["dialect"]) signature.dialect = file.text(entry["dialect"], "dialect");
  if (entry["levels"]) signature.levels = file.texts(entry, "levels");
  if (entry["place"]) signature.place = file.text(entry["place"], "place");
  signature.literals = file.texts(entry, "literals");
  signature.pattern = text("pattern");
  if (entry["versions"]) signature.versions = file.text(entry["versions"], "versions");
  if (entry["storm"]) signature.storm = storm_of(file, entry["storm"]);
  if (entry["recovers"]) signature.recovers = file.texts(entry, "recovers");
  if (entry["lasts"]) signature.lasts = yes_or_no(file, entry["lasts"], "lasts");
  read_word(file, entry, "marks", signature.marks);
  if (const YAML::Node actions = entry["actions"]) {
    if (!actions.IsSequence())
      file.place(actions).refuse("actions is not a list; write at least one \"- do:\"");
    for (const auto& action : actions) signature.actions.push_back(action_of(file, action));
  }
  signature.matches = file.texts(entry, "matches");
  if (entry["matches_not"]) signature.matches_not = file.texts(entry, "matches_not");
  return signature;
}

}  // namespace

SignatureFile read_signatures(std::string_view name, std::string_view text) {
  SignatureFile read;
  const auto guarded = [&](auto&& deed) {
    try {
      deed();
    } catch (const YAML::Exception& error) {  // what yaml-cpp notices only when it is asked
      read.problems.push_back(fmt::format("{}:{}: {}; mend the YAML there", name,
                                          std::max(error.mark.line, 0) + 1, error.msg));
    } catch (const std::runtime_error& error) {
      read.problems.emplace_back(error.what());
    }
  };
  guarded([&] {
    const YamlFile file(name, text);
    if (!file.root().IsSequence())
      file.place(file.root()).refuse("this is not a list; write signatures, each with an id");
    std::map<std::string, std::size_t> lines;
    for (const auto& entry : file.root())
      guarded([&] {
        MessageSignature signature = signature_of(file, entry);
        const CatalogPlace place = file.place(entry);
        const auto [first, is_new] = lines.emplace(signature.id, place.line);
        if (!is_new)
          place.refuse(fmt::format("{} is listed twice, first in line {}; rename one of the two",
                                   signature.id, first->second));
        read.signatures.push_back(std::move(signature));
      });
  });
  return read;
}

SignatureFile read_users_signatures(const std::vector<CatalogText>& files) {
  SignatureFile all;
  std::map<std::string, std::string> places;  // by id
  for (const CatalogText& file : files) {
    SignatureFile read = read_signatures(file.name, file.text);
    std::ranges::move(read.problems, std::back_inserter(all.problems));
    for (MessageSignature& signature : read.signatures) {
      std::ranges::move(problems_of(signature), std::back_inserter(all.problems));
      const auto [first, is_new] = places.emplace(signature.id, signature.file);
      if (!is_new)
        all.problems.push_back(fmt::format("{}: {} is also in {}; rename one of the two",
                                           signature.file, signature.id, first->second));
      all.signatures.push_back(std::move(signature));
    }
  }
  return all;
}

}  // namespace faultline
