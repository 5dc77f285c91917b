#include "rules/knowledge/trouble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSearched = 1024;  // bytes of a line

std::unique_ptr<const RE2> any_of(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (const RE2 one(pattern, RE2::Quiet); !one.ok())
      throw std::invalid_argument(
          fmt::format("pattern {} is not a valid regular expression: {}", pattern, one.error()));
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

std::shared_ptr<const Trouble> read_trouble(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  TroubleWords words;
  std::vector<std::string> ends;
  std::vector<std::string> fails;
  std::vector<std::string> hints;
  std::vector<std::string> quiet;
  std::vector<std::string> harmless;
  const auto part = [&](const char* key, std::vector<std::string>& patterns,
                        std::vector<std::string>& samples) {
    return needed(key, [&, key](const YamlNode& node) {
      file.read_fields(node, key, {needed("patterns", patterns), needed("samples", samples)});
    });
  };
  file.read_fields(file.root(), "the file",
                   {part("ends", words.ends, ends), part("fails", words.fails, fails),
                    part("hints", words.hints, hints), part("quiet", words.quiet, quiet),
                    part("harmless", words.harmless, harmless)});
  std::shared_ptr<const Trouble> trouble;
  try {
    trouble = std::make_shared<const Trouble>(words);
  } catch (const std::invalid_argument& error) {
    file.place(file.root()).refuse(error.what());
  }
  const auto try_samples = [&](const std::vector<std::string>& samples, TroubleKind wanted) {
    for (const std::string& sample : samples)
      if (const TroubleKind kind = trouble->kind_of(sample); kind != wanted)
        file.place(file.root())
            .refuse(
                fmt::format("sample \"{}\" is taken for {}, not for {}; correct the patterns or "
                            "the sample",
                            sample, boost::describe::enum_to_string(kind, "?"),
                            boost::describe::enum_to_string(wanted, "?")));
  };
  try_samples(ends, TroubleKind::ends);
  try_samples(fails, TroubleKind::fails);
  try_samples(hints, TroubleKind::hints);
  try_samples(quiet, TroubleKind::none);
  try_samples(harmless, TroubleKind::none);
  return trouble;
}

}  // namespace faultline
