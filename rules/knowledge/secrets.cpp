#include "rules/knowledge/secrets.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "model/literal_search.h"
#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::string_view kGroup = "secret";
constexpr std::string_view kKeyEnds = "-----END ";
constexpr std::string_view kKeyBegins = "-----BEGIN ";
constexpr std::string_view kKey = "PRIVATE KEY";
constexpr std::size_t kMostShapes = 512;

bool is_letter_of_a_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=' || c == '*';
}

bool opens_a_key(std::string_view line) {
  const std::size_t begin = line.rfind(kKeyBegins);
  return begin != line.npos && line.find(kKey, begin) != line.npos &&
         line.find(kKeyEnds, begin) == line.npos;
}

// The run of letters at the end of a line; what stands before it is a label, a stamp.
std::string_view last_run(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const auto begin =
      std::find_if_not(line.rbegin(), line.rend(), is_letter_of_a_key).base() - line.begin();
  return line.substr(static_cast<std::size_t>(begin));
}

// As the lines of a key are whose first line was not seen: long, of letters of both sizes and
// digits.
bool reads_like_a_key(std::string_view run) {
  constexpr std::size_t kLeast = 60;
  while (run.ends_with('=')) run.remove_suffix(1);
  if (run.find('=') != run.npos) return false;   // a name and its value
  if (run.starts_with("********")) return true;  // the rest of one of which more was hidden
  const auto any = [&](char first, char last) {
    return std::ranges::any_of(run, [&](char c) { return c >= first && c <= last; });
  };
  return run.size() >= kLeast && any('g', 'z') && any('G', 'Z') && any('0', '9') &&
         run.find("//") == run.npos;
}

}  // namespace

class Secrets::Impl {
 public:
  explicit Impl(const std::vector<SecretShape>& shapes) : literals_(literals_of(shapes)) {
    if (shapes.size() > kMostShapes)
      throw std::invalid_argument(
          fmt::format("{} shapes are too many; write at most {}", shapes.size(), kMostShapes));
    for (const SecretShape& shape : shapes) {
      patterns_.push_back(pattern_of(shape.id, shape.pattern));
      cut_patterns_.push_back(shape.cut_pattern.empty() ? PatternOfShape{}
                                                        : pattern_of(shape.id, shape.cut_pattern));
    }
  }

  bool hide(std::string_view line, bool is_cut, bool& in_key, std::string& hidden) const {
    bool found = false;
    const auto begin = [&] {
      if (!std::exchange(found, true)) hidden.assign(line);
    };
    const bool in_key_now = std::exchange(in_key, false);
    bool may_hold_any = false;
    std::bitset<kMostShapes> asked;
    literals_.find(line, [&](std::uint32_t shape) {
      may_hold_any = true;
      if (asked[shape]) return false;
      asked[shape] = true;
      hide_shape(line, patterns_[shape], begin, hidden);
      if (is_cut && cut_patterns_[shape].regex)
        hide_shape(line, cut_patterns_[shape], begin, hidden);
      return false;
    });
    const std::string_view run = last_run(line);
    if (run.size() > 0 && (in_key_now || reads_like_a_key(run))) {
      begin();
      stars(line, run, hidden);
    }
    in_key = (may_hold_any && opens_a_key(line)) ||
             (in_key_now && line.find(kKeyEnds) == line.npos && !run.empty());
    return found;
  }

 private:
  struct PatternOfShape {
    std::unique_ptr<const RE2> regex;
    int group = 0;
  };

  static PatternOfShape pattern_of(const std::string& id, const std::string& pattern) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);  // a line may hold any bytes
    auto regex = std::make_unique<const RE2>(pattern, options);
    if (!regex->ok())
      throw std::invalid_argument(
          fmt::format("pattern of {} is no regular expression: {}", id, regex->error()));
    const auto& groups = regex->NamedCapturingGroups();
    const auto group = groups.find(std::string(kGroup));
    if (group == groups.end())
      throw std::invalid_argument(
          fmt::format("pattern of {} has no group (?P<secret>...); mark what is to be hidden", id));
    return {std::move(regex), group->second};
  }

  static LiteralSearch literals_of(const std::vector<SecretShape>& shapes) {
    std::vector<LiteralSearch::Literal> literals;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      for (const std::string& literal : shapes[i].literals)
        literals.push_back({literal, static_cast<std::uint32_t>(i)});
    return LiteralSearch(std::move(literals));
  }

  template <class Begin>
  static void hide_shape(std::string_view line, const PatternOfShape& shape, Begin begin,
                         std::string& hidden) {
    const re2::StringPiece whole(line.data(), line.size());
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(shape.group) + 1);
    for (std::size_t at = 0; at < whole.size();) {
      if (!shape.regex->Match(whole, at, whole.size(), RE2::UNANCHORED, groups.data(),
                              shape.group + 1))
        return;
      const re2::StringPiece& secret = groups.back();
      if (!secret.empty()) {
        begin();
        stars(line, {secret.data(), secret.size()}, hidden);
      }
      const auto end = static_cast<std::size_t>(groups[0].data() - whole.data()) + groups[0].size();
      at = std::max(end, at + 1);
    }
  }

  static void stars(std::string_view line, std::string_view secret, std::string& hidden) {
    std::fill_n(hidden.begin() + (secret.data() - line.data()), secret.size(), '*');
  }

  LiteralSearch literals_;
  std::vector<PatternOfShape> patterns_;
  std::vector<PatternOfShape> cut_patterns_;  // in the same order; some are none
};

Secrets::Secrets() = default;
Secrets::Secrets(std::vector<SecretShape> shapes)
    : shapes_(std::move(shapes)), impl_(std::make_unique<const Impl>(shapes_)) {}
Secrets::~Secrets() = default;

bool Secrets::hide(std::string_view line, bool is_cut, bool& in_key, std::string& hidden) const {
  return impl_ && impl_->hide(line, is_cut, in_key, hidden);
}

std::string expanded_sample(std::string_view sample) {
  constexpr std::string_view kLetters = "q7Xm2Kd9Rw4Tz6Hb";
  std::string text;
  while (!sample.empty()) {
    std::size_t count = 0;
    const auto [end, error] =
        std::from_chars(sample.data() + 1, sample.data() + sample.size(), count);
    if (sample.front() != '<' || error != std::errc() || end == sample.data() + sample.size() ||
        *end != '>') {
      text += sample.front();
      sample.remove_prefix(1);
      continue;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 4096); ++i)
      text += kLetters[i % kLetters.size()];
    sample.remove_prefix(static_cast<std::size_t>(end - sample.data()) + 1);
  }
  return text;
}

std::vector<SecretShape> read_secret_shapes(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  std::vector<SecretShape> shapes;
  file.read_fields(
      file.root(), "the file", {each("shapes", [&](const YAML::Node& entry) {
        SecretShape& shape = shapes.emplace_back();
        file.read_fields(entry, "a shape",
                         {needed("id", shape.id), needed("literals", shape.literals),
                          needed("pattern", shape.pattern), maybe("cut_pattern", shape.cut_pattern),
                          needed("samples", shape.samples), maybe("harmless", shape.harmless)});
        for (const std::string& literal : shape.literals)
          if (literal.size() < LiteralSearch::kMinBytes)
            file.place(entry).refuse(
                fmt::format("{}: literal \"{}\" is too short; write at least {} "
                            "characters",
                            shape.id, literal, LiteralSearch::kMinBytes));
        try {
          const Secrets alone({shape});
          std::string hidden;
          for (const std::string& sample : shape.samples)
            if (bool in_key = false;
                !alone.hide(expanded_sample(sample), false, in_key, hidden) && !in_key)
              file.place(entry).refuse(
                  fmt::format("{}: nothing is hidden of the sample \"{}\"; mend one of the two",
                              shape.id, sample));
          for (const std::string& sample : shape.harmless)
            if (bool in_key = false; alone.hide(expanded_sample(sample), false, in_key, hidden))
              file.place(entry).refuse(
                  fmt::format("{}: the harmless \"{}\" becomes \"{}\"; mend one of the two",
                              shape.id, sample, hidden));
        } catch (const std::invalid_argument& error) {
          file.place(entry).refuse(error.what());
        }
      })});
  return shapes;
}

}  // namespace faultline
