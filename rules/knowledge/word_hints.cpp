#include "rules/knowledge/word_hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfALine = 512;  // bytes that are looked at

re2::StringPiece looked_at(std::string_view line) {
  return {line.data(), std::min(line.size(), kMostOfALine)};
}

std::unique_ptr<const RE2> one_of(const WordGroup& words) {
  RE2::Options options(RE2::Quiet);
  options.set_case_sensitive(false);
  for (const std::string& pattern : words.patterns)
    if (const RE2 one(pattern, options); !one.ok())
      throw std::invalid_argument(
          fmt::format("{}: pattern {} is not a valid regular expression: {}", words.name, pattern,
                      one.error()));
  return std::make_unique<const RE2>(fmt::format("(?:{})", fmt::join(words.patterns, ")|(?:")),
                                     options);
}

}  // namespace

class WordHints::Compiled {
 public:
  const RE2& pattern(const std::vector<WordGroup>& words, std::size_t group) const {
    std::call_once(once_, [&] {
      for (const WordGroup& some : words) patterns_.push_back(one_of(some));
    });
    return *patterns_[group];
  }

 private:
  mutable std::once_flag once_;
  mutable std::vector<std::unique_ptr<const RE2>> patterns_;
};

WordHints::WordHints() = default;
WordHints::WordHints(std::vector<WordGroup> words, std::vector<WordHint> hints, WordGroup never,
                     WordGroup gpus, WordGroup nics)
    : words_(std::move(words)),
      never_(words_.size()),
      gpus_(never_ + 1),
      nics_(never_ + 2),
      hints_(std::move(hints)),
      compiled_(std::make_unique<const Compiled>()) {
  words_.push_back(std::move(never));
  words_.push_back(std::move(gpus));
  words_.push_back(std::move(nics));
}
WordHints::~WordHints() = default;

std::string WordHints::name_in(std::string_view line, std::size_t group) const {
  if (words_.empty() || words_[group].patterns.empty()) return {};
  const re2::StringPiece text = looked_at(line);
  re2::StringPiece name;
  if (!compiled_->pattern(words_, group).Match(text, 0, text.size(), RE2::UNANCHORED, &name, 1))
    return {};
  return std::string(name.data(), name.size());
}

std::optional<std::size_t> WordHints::of(std::string_view line) const {
  const re2::StringPiece text = looked_at(line);
  std::vector<std::optional<bool>> stands(words_.size());
  const auto has = [&](std::size_t group) {
    if (!stands[group]) stands[group] = RE2::PartialMatch(text, compiled_->pattern(words_, group));
    return *stands[group];
  };
  if (words_.empty() || has(never_)) return std::nullopt;
  for (std::size_t i = 0; i < hints_.size(); ++i)
    if (std::ranges::all_of(hints_[i].words, has)) return i;
  return std::nullopt;
}

std::shared_ptr<const WordHints> read_word_hints(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  std::vector<WordGroup> words;
  std::map<std::string, std::size_t> groups;
  std::vector<WordHint> hints;
  const auto read_words = [&](const YamlNode& node) {
    file.read_pairs(node, "words", [&](const YamlNode& key, const YamlNode& value) {
      const std::string group = file.text(key, "the name of a group of words");
      if (!groups.emplace(group, words.size()).second)
        file.place(key).refuse(fmt::format("words has {} twice; join the two", group));
      words.push_back({group, file.texts(value, group)});
    });
  };
  const auto read_hint = [&](const YamlNode& node) {
    WordHint& hint = hints.emplace_back();
    std::vector<std::string> groups_of_it;
    std::vector<std::string> names;
    file.read_fields(
        node, "a hint",
        {needed("class", hint.cause), needed("about", hint.about), maybe("names", names),
         needed("words", groups_of_it), needed("samples", hint.samples)});
    for (const std::string& part : names) {
      const std::pair<std::string_view, bool*> known[] = {
          {"rank", &hint.names_rank}, {"gpu", &hint.names_gpu}, {"nic", &hint.names_nic}};
      const auto found = std::ranges::find(known, part, &std::pair<std::string_view, bool*>::first);
      if (found == std::ranges::end(known))
        file.place(node).refuse(fmt::format("names \"{}\" is unknown; use rank, gpu or nic", part));
      *found->second = true;
    }
    for (const std::string& group : groups_of_it) {
      const auto known = groups.find(group);
      if (known == groups.end())
        file.place(node).refuse(
            fmt::format("{} is not a group of words of this file; use one that is", group));
      hint.words.push_back(known->second);
    }
  };
  WordGroup never{.name = "never", .patterns = {}};
  WordGroup gpus{.name = "gpus", .patterns = {}};
  WordGroup nics{.name = "nics", .patterns = {}};
  file.read_fields(
      file.root(), "the file",
      {needed("never", never.patterns), maybe("gpus", gpus.patterns), maybe("nics", nics.patterns),
       needed("words", read_words), each("hints", read_hint)});
  return std::make_shared<const WordHints>(std::move(words), std::move(hints), std::move(never),
                                           std::move(gpus), std::move(nics));
}

void check_word_hints(std::string_view name, std::string_view text) {
  const std::shared_ptr<const WordHints> hints = read_word_hints(name, text);
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("{}: {}", name, why));
  };
  try {
    for (std::size_t i = 0; i < hints->all().size(); ++i)
      for (const std::string& sample : hints->all()[i].samples)
        if (const auto found = hints->of(sample); found != i)
          refuse(fmt::format("sample \"{}\" of {} is taken for {}; correct words or the sample",
                             sample, hints->all()[i].about,
                             found ? hints->all()[*found].about : "nothing"));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

}  // namespace faultline
