#include "rules/knowledge/trouble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSearched = 1024;  // bytes of a line

std::unique_ptr<const RE2> any_of(const std::vector<std::string>& patterns) {
  return std::make_unique<const RE2>(fmt::format("(?:{})", fmt::join(patterns, ")|(?:")),
                                     RE2::Quiet);
}

}  // namespace

class Trouble::Impl {
 public:
  explicit Impl(const TroubleWords& words)
      : ends_(any_of(words.ends)),
        fails_(any_of(words.fails)),
        hints_(any_of(words.hints)),
        quiet_(any_of(words.quiet)),
        harmless_(any_of(words.harmless)) {}

  TroubleKind kind_of(std::string_view text) const {
    const re2::StringPiece whole(text.data(), std::min(text.size(), kMostSearched));
    TroubleKind kind = kind_in(whole);
    if (kind != TroubleKind::none && RE2::PartialMatch(whole, *harmless_)) {
      std::string rest(whole.data(), whole.size());
      RE2::GlobalReplace(&rest, *harmless_, " ");
      kind = kind_in(rest);
    }
    const bool is_quiet = (kind == TroubleKind::fails || kind == TroubleKind::hints) &&
                          RE2::PartialMatch(whole, *quiet_);
    return is_quiet ? TroubleKind::none : kind;
  }

 private:
  TroubleKind kind_in(const re2::StringPiece& text) const {
    if (RE2::PartialMatch(text, *ends_)) return TroubleKind::ends;
    if (RE2::PartialMatch(text, *fails_)) return TroubleKind::fails;
    return RE2::PartialMatch(text, *hints_) ? TroubleKind::hints : TroubleKind::none;
  }

  std::unique_ptr<const RE2> ends_, fails_, hints_, quiet_, harmless_;
};

Trouble::Trouble() = default;
Trouble::Trouble(const TroubleWords& words)
    : words_(words), impl_(std::make_unique<const Impl>(words)) {}
Trouble::~Trouble() = default;

TroubleKind Trouble::kind_of(std::string_view text) const {
  return impl_ ? impl_->kind_of(text) : TroubleKind::none;
}

namespace {

// Lines by what they must be taken for.
struct TroubleSamples {
  std::vector<std::string> ends, fails, hints, quiet, harmless;
};

TroubleWords read_words(const YamlFile& file, TroubleSamples& samples) {
  TroubleWords words;
  const auto part = [&](const char* key, std::vector<std::string>& patterns,
                        std::vector<std::string>& its_samples) {
    return needed(key, [&, key](const YamlNode& node) {
      file.read_fields(node, key, {needed("patterns", patterns), needed("samples", its_samples)});
    });
  };
  file.read_fields(
      file.root(), "the file",
      {part("ends", words.ends, samples.ends), part("fails", words.fails, samples.fails),
       part("hints", words.hints, samples.hints), part("quiet", words.quiet, samples.quiet),
       part("harmless", words.harmless, samples.harmless)});
  return words;
}

}  // namespace

std::shared_ptr<const Trouble> read_trouble(std::string_view name, std::string_view text) {
  TroubleSamples samples;
  return std::make_shared<const Trouble>(read_words(YamlFile(name, text), samples));
}

void check_trouble(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  const CatalogPlace place = file.place(file.root());
  TroubleSamples samples;
  const TroubleWords words = read_words(file, samples);
  for (const auto* patterns :
       {&words.ends, &words.fails, &words.hints, &words.quiet, &words.harmless})
    for (const std::string& pattern : *patterns)
      if (const RE2 one(pattern, RE2::Quiet); !one.ok())
        place.refuse(
            fmt::format("pattern {} is not a valid regular expression: {}", pattern, one.error()));
  const Trouble trouble(words);
  const auto try_samples = [&](const std::vector<std::string>& lines, TroubleKind wanted) {
    for (const std::string& sample : lines)
      if (const TroubleKind kind = trouble.kind_of(sample); kind != wanted)
        place.refuse(
            fmt::format("sample \"{}\" is taken for {}, not for {}; correct the patterns or "
                        "the sample",
                        sample, boost::describe::enum_to_string(kind, "?"),
                        boost::describe::enum_to_string(wanted, "?")));
  };
  try_samples(samples.ends, TroubleKind::ends);
  try_samples(samples.fails, TroubleKind::fails);
  try_samples(samples.hints, TroubleKind::hints);
  try_samples(samples.quiet, TroubleKind::none);
  try_samples(samples.harmless, TroubleKind::none);
}

}  // namespace faultline
