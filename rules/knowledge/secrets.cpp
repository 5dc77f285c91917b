#include "rules/knowledge/secrets.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <map>
#include <stdexcept>
#include <utility>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/trigger_search.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::string_view kGroup = "secret";
constexpr std::string_view kKeyEnds = "-----END ";
constexpr std::string_view kKeyBegins = "-----BEGIN ";
constexpr std::string_view kKey = "PRIVATE KEY";
constexpr std::size_t kMostShapes = 512;

// Which bytes are of a kind.
class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes) {
    for (const char c : bytes) has_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> has_{};
};

constexpr ByteSet kLettersOfAKey(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=*");
constexpr ByteSet kBlanks("\t\n\f\r ");  // RE2's
constexpr ByteSet kBlanksAndQuotes("\t\n\f\r \"'");
constexpr ByteSet kEndsOfAValue("\t\n\f\r \"'`,;&<>)]}\\");

bool opens_a_key(std::string_view line) {
  if (line.find(kKey) == line.npos) return false;  // said quickly, as it is of most
  const std::size_t begin = line.rfind(kKeyBegins);
  return begin != line.npos && line.find(kKey, begin) != line.npos &&
         line.find(kKeyEnds, begin) == line.npos;
}

// The run of letters at the end of a line; what stands before it is a label, a stamp.
std::string_view last_run(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  std::size_t begin = line.size();
  while (begin > 0 && kLettersOfAKey.has(line[begin - 1])) --begin;
  return line.substr(begin);
}

// As the lines of a key are whose first line was not seen: long, of letters of both sizes and
// digits.
bool reads_like_a_key(std::string_view run) {
  constexpr std::size_t kLeast = 60;
  constexpr std::string_view kStars = "********";
  if (run.size() < kStars.size()) return false;
  while (run.ends_with('=')) run.remove_suffix(1);
  if (run.find('=') != run.npos) return false;  // a name and its value
  if (run.starts_with(kStars)) return true;     // the rest of one of which more was hidden
  const auto any = [&](char first, char last) {
    return std::ranges::any_of(run, [&](char c) { return c >= first && c <= last; });
  };
  return run.size() >= kLeast && any('g', 'z') && any('G', 'Z') && any('0', '9') &&
         run.find("//") == run.npos;
}

}  // namespace

class Secrets::Impl {
 public:
  explicit Impl(const std::vector<SecretShape>& shapes)
      : shapes_(shapes), literals_(literals_of(shapes)), triggers_(texts_of(literals_)) {
    if (shapes.size() > kMostShapes)
      throw std::invalid_argument(
          fmt::format("{} shapes are too many; write at most {}", shapes.size(), kMostShapes));
    for (const SecretShape& shape : shapes) {
      separators_.emplace_back(shape.then);
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
    triggers_.find(line, [&](std::uint32_t literal, std::size_t end) {
      may_hold_any = true;
      for (const std::uint32_t shape : literals_[literal].shapes) {
        // Of a line that goes on, what follows is not there yet.
        if (asked[shape] || (!is_cut && !may_follow(line, end, shape))) continue;
        asked[shape] = true;
        hide_shape(line, patterns_[shape], begin, hidden);
        if (is_cut && cut_patterns_[shape].regex)
          hide_shape(line, cut_patterns_[shape], begin, hidden);
      }
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

  struct Literal {
    std::string text;
    std::vector<std::uint32_t> shapes;
  };

  static std::vector<Literal> literals_of(const std::vector<SecretShape>& shapes) {
    std::map<std::string, std::vector<std::uint32_t>> shapes_of;
    for (std::uint32_t i = 0; i < shapes.size(); ++i)
      for (const std::string& literal : shapes[i].literals)
        if (auto& its = shapes_of[literal]; its.empty() || its.back() != i) its.push_back(i);
    std::vector<Literal> literals;
    for (auto& [text, its] : shapes_of) literals.push_back({text, std::move(its)});
    return literals;
  }

  static std::vector<std::string> texts_of(const std::vector<Literal>& literals) {
    std::vector<std::string> texts;
    for (const Literal& literal : literals) texts.push_back(literal.text);
    return texts;
  }

  // Whether what the shape asks for stands behind its literal, as far as is seen without its
  // pattern. It looks no further than so many bytes, however often the literal stands in a line.
  bool may_follow(std::string_view line, std::size_t end, std::uint32_t shape) const {
    constexpr std::size_t kFarthest = 256;
    if (shapes_[shape].then.empty()) return true;
    const ByteSet& separators = separators_[shape];
    const std::size_t last = std::min(line.size(), end + kFarthest);
    std::size_t at = end - 1;  // of the literal itself, too
    while (at < last && !separators.has(line[at]) && (at < end || !kBlanks.has(line[at]))) ++at;
    while (at < last && kBlanks.has(line[at])) ++at;
    if (at == last) return last < line.size();
    if (!separators.has(line[at])) return false;
    for (++at; at < last && kBlanksAndQuotes.has(line[at]);) ++at;
    const std::size_t value = at;
    while (at < last && at - value < shapes_[shape].least && !kEndsOfAValue.has(line[at])) ++at;
    return at - value >= shapes_[shape].least || (at == last && last < line.size());
  }

  template <class Begin>
  static void hide_shape(std::string_view line, const PatternOfShape& shape, Begin begin,
                         std::string& hidden) {
    const re2::StringPiece whole(line.data(), line.size());
    if (!shape.regex->Match(whole, 0, whole.size(), RE2::UNANCHORED, nullptr, 0)) return;
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

  const std::vector<SecretShape>& shapes_;
  std::vector<Literal> literals_;
  TriggerSearch triggers_;           // of the literals
  std::vector<ByteSet> separators_;  // by shape; so the next two
  std::vector<PatternOfShape> patterns_;
  std::vector<PatternOfShape> cut_patterns_;  // some are none
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
      file.root(), "the file", {each("shapes", [&](const YamlNode& entry) {
        SecretShape& shape = shapes.emplace_back();
        double least = 0;
        file.read_fields(entry, "a shape",
                         {needed("id", shape.id), needed("literals", shape.literals),
                          maybe("then", shape.then), maybe("least", least),
                          needed("pattern", shape.pattern), maybe("cut_pattern", shape.cut_pattern),
                          needed("samples", shape.samples), maybe("harmless", shape.harmless)});
        shape.least = static_cast<std::size_t>(std::clamp(least, 0.0, 64.0));
        for (const std::string& literal : shape.literals)
          if (literal.size() < TriggerSearch::kMinBytes)
            file.place(entry).refuse(
                fmt::format("{}: literal \"{}\" is too short; write at least {} "
                            "characters",
                            shape.id, literal, TriggerSearch::kMinBytes));
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
