#include "rules/knowledge/secrets.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/key_lines.h"
#include "rules/knowledge/open_setting.h"
#include "rules/knowledge/secret_value.h"
#include "rules/knowledge/trigger_search.h"
#include "rules/knowledge/unescaped.h"
#include "rules/knowledge/when_asked.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

constexpr std::string_view kGroup = "secret";
constexpr std::size_t kMostShapes = 512;

}  // namespace

class Secrets::Impl {
 public:
  Impl(const std::vector<SecretShape>& shapes, Were were)
      : shapes_(shapes),
        literals_(literals_of(shapes)),
        triggers_(texts_of(literals_)),
        patterns_(shapes.size()) {
    if (shapes.size() > kMostShapes)
      throw std::invalid_argument(
          fmt::format("{} shapes are too many; write at most {}", shapes.size(), kMostShapes));
    for (const SecretShape& shape : shapes) {
      has_form_[forms_.size()] = !shape.then.empty();
      forms_.push_back(form_of(shape));
    }
    if (were == Were::checked) return;
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) patterns(shape);
  }

  bool hide(std::string_view line, bool is_cut, OpenSecret& open, std::string& hidden) const {
    Hiding hiding(line, is_cut, hidden);
    bool may_open_key = false;
    bool may_name_setting = false;
    bool is_asked = false;
    Asked asked;
    triggers_.find(line, [&](std::uint32_t literal, std::size_t end) {
      may_name_setting = true;
      may_open_key = may_open_key || literals_[literal].begins_a_key;
      for (const Alike& alike : literals_[literal].shapes)
        if (may_follow(line, end, alike.shapes.front(), is_cut))
          for (const std::uint32_t shape : alike.shapes) asked[shape] = is_asked = true;
    });
    if (is_asked) {
      hide_shapes(line, asked, hiding);
      if (Unescaped::changes(line)) hide_unescaped(line, asked, hiding);
    }
    if (!open.setting.empty()) hide_value_of(std::exchange(open.setting, {}), line, hiding);
    // The reader keeps the name: a secret at the end of a line must not pass for one.
    if (may_name_setting)
      open.setting = setting_left_open(hiding.found() ? std::string_view(hidden) : line);
    if (open.in_key || may_be_of_a_key(line)) hide_letters(line, open.in_key, hiding);
    if (may_open_key && opens_a_key(line)) open.in_key = true;
    return hiding.found();
  }

 private:
  struct PatternOfShape {
    std::unique_ptr<const RE2> regex;
    int group = 0;  // 0: the regex finds the name of the value to hide
  };

  struct PatternsOfShape {
    PatternOfShape whole;
    PatternOfShape cut;  // without regex: none
  };

  const PatternsOfShape& patterns(std::size_t number) const {
    return patterns_.of(number, [&] {
      const SecretShape& shape = shapes_[number];
      PatternsOfShape its;
      its.whole =
          shape.name.empty() ? pattern_of(shape.id, shape.pattern) : name_of(shape.id, shape.name);
      if (!shape.cut_pattern.empty()) its.cut = pattern_of(shape.id, shape.cut_pattern);
      return its;
    });
  }

  using Asked = std::bitset<kMostShapes>;

  // The line, and its copy with stars.
  class Hiding {
   public:
    Hiding(std::string_view line, bool is_cut, std::string& hidden)
        : line_(line), is_cut_(is_cut), hidden_(hidden) {}

    bool is_cut() const { return is_cut_; }
    bool found() const { return found_; }

    // Until look_at_line(), hide() takes parts of this text, which unescapes the line from `begin`.
    void look_at(const Unescaped& text, std::size_t begin) { text_ = &text, begin_ = begin; }
    void look_at_line() { text_ = nullptr; }

    void hide(std::string_view secret) {
      if (secret.empty()) return;
      const Unescaped::Place place = text_ ? text_->place_of(secret) : place_of(secret);
      if (!std::exchange(found_, true)) hidden_.assign(line_);
      const std::size_t begin = place.begin + (text_ ? begin_ : 0);
      std::fill_n(hidden_.begin() + static_cast<std::ptrdiff_t>(begin), place.end - place.begin,
                  '*');
    }

   private:
    Unescaped::Place place_of(std::string_view part) const {
      const auto begin = static_cast<std::size_t>(part.data() - line_.data());
      return {begin, begin + part.size()};
    }

    std::string_view line_;
    bool is_cut_;
    bool found_ = false;
    std::string& hidden_;
    const Unescaped* text_ = nullptr;  // none: the line itself
    std::size_t begin_ = 0;
  };

  static ValueForm form_of(const SecretShape& shape) {
    const std::optional<ValueKind> kind = value_kind(shape.value);
    if (!kind)
      throw std::invalid_argument(
          fmt::format("{}: value \"{}\" is unknown; write any, lettered, mixed or random", shape.id,
                      shape.value));
    return {shape.then, shape.least, *kind, shape.ends};
  }

  static PatternOfShape name_of(const std::string& id, const std::string& name) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    auto regex = std::make_unique<const RE2>(name, options);
    if (!regex->ok())
      throw std::invalid_argument(
          fmt::format("name of {} is not a valid regular expression: {}", id, regex->error()));
    return {std::move(regex), 0};
  }

  static PatternOfShape pattern_of(const std::string& id, const std::string& pattern) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);  // a line may hold any bytes
    auto regex = std::make_unique<const RE2>(pattern, options);
    if (!regex->ok())
      throw std::invalid_argument(
          fmt::format("pattern of {} is not a valid regular expression: {}", id, regex->error()));
    const auto& groups = regex->NamedCapturingGroups();
    const auto group = groups.find(std::string(kGroup));
    if (group == groups.end())
      throw std::invalid_argument(
          fmt::format("pattern of {} has no group (?P<secret>...); mark the part to hide", id));
    return {std::move(regex), group->second};
  }

  struct Alike {
    std::vector<std::uint32_t> shapes;  // with the same test of what follows a literal
  };
  struct Literal {
    std::string text;
    std::vector<Alike> shapes;
    bool begins_a_key = false;
  };

  static std::vector<Alike> alike(const std::vector<SecretShape>& shapes,
                                  const std::vector<std::uint32_t>& some) {
    std::vector<Alike> groups;
    const auto asks = [&](std::uint32_t shape) {
      return std::tie(shapes[shape].then, shapes[shape].least, shapes[shape].ends);
    };
    for (const std::uint32_t shape : some) {
      const auto group = std::ranges::find_if(
          groups, [&](const Alike& it) { return asks(it.shapes.front()) == asks(shape); });
      if (group != groups.end())
        group->shapes.push_back(shape);
      else
        groups.push_back({{shape}});
    }
    return groups;
  }

  // The bytes that may stand before a literal. Before a word: those that are not of a word, or the
  // last letter of an escape or a colour. Before another literal, such as ://, those of a word.
  static std::string before_word(std::string_view word) {
    constexpr ByteSet kOfWords("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const bool is_word = kOfWords.has(word.front());
    std::string before = is_word ? "mnrt" : "+.-";
    for (int byte = 0; byte < 256; ++byte)
      if (const char c = static_cast<char>(byte); kOfWords.has(c) != is_word) before += c;
    return before;
  }

  // As some programs write slashes in JSON.
  static std::string with_escaped_slashes(std::string_view literal) {
    std::string written;
    for (const char c : literal) {
      if (c == '/') written += '\\';
      written += c;
    }
    return written;
  }

  static std::vector<Literal> literals_of(const std::vector<SecretShape>& shapes) {
    std::map<std::string, std::vector<std::uint32_t>> shapes_of;
    for (std::uint32_t i = 0; i < shapes.size(); ++i)
      for (const auto* some : {&shapes[i].literals, &shapes[i].words})
        for (const std::string& literal : *some)
          for (const std::string& written : {literal, with_escaped_slashes(literal)})
            if (auto& its = shapes_of[written]; its.empty() || its.back() != i) its.push_back(i);
    std::vector<Literal> literals;
    for (const auto& [text, its] : shapes_of)
      literals.push_back({text, alike(shapes, its), opens_a_key("-----BEGIN " + text)});
    return literals;
  }

  static std::vector<TriggerSearch::Literal> texts_of(const std::vector<Literal>& literals) {
    std::vector<TriggerSearch::Literal> texts;
    for (const Literal& literal : literals) {
      const bool is_short = literal.text.size() < TriggerSearch::kMinBytes;
      texts.push_back({literal.text, is_short ? before_word(literal.text) : std::string()});
    }
    return texts;
  }

  // Quick test without the pattern. False: what follows the literal is not what the shape wants.
  bool may_follow(std::string_view line, std::size_t end, std::uint32_t shape, bool is_cut) const {
    if (!has_form_[shape]) return true;
    // If the line may go on, the value may still be to come.
    return may_be_ended(line, end, forms_[shape]) &&
           (is_cut || value_may_follow(line, end, forms_[shape]));
  }

  static void hide_letters(std::string_view line, bool& in_key, Hiding& hiding) {
    bool goes_on = in_key && may_be_between_lines(line);
    for (const std::string_view letters : letters_of_a_key(line, in_key)) {
      hiding.hide(letters);
      goes_on = in_key;
    }
    in_key = goes_on && !ends_a_key(line);
  }

  void hide_value_of(const std::string& setting, std::string_view line, Hiding& hiding) const {
    const std::optional<SettingInOne> one = setting_in_one(setting, line);
    std::string hidden;
    OpenSecret none;
    if (!one || !hide(one->text, hiding.is_cut(), none, hidden)) return;
    for (std::size_t at = one->in_text; at < hidden.size(); ++at)
      if (hidden[at] != one->text[at])
        hiding.hide(line.substr(one->in_line + at - one->in_text, 1));
  }

  void hide_shapes(std::string_view text, const Asked& asked, Hiding& hiding) const {
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
      if (!asked[shape]) continue;
      const auto& [whole, cut] = patterns(shape);
      if (whole.group == 0)
        hide_values(text, whole, forms_[shape], hiding);
      else
        hide_secrets(text, whole, hiding);
      if (hiding.is_cut() && cut.regex) hide_secrets(text, cut, hiding);
    }
  }

  // Secrets in escaped strings, such as JSON inside JSON. A long line is searched in pieces that
  // overlap.
  void hide_unescaped(std::string_view line, const Asked& asked, Hiding& hiding) const {
    constexpr int kMostLevels = 8;
    constexpr std::size_t kPiece = std::size_t{256} << 10;
    constexpr std::size_t kShared = std::size_t{8} << 10;
    for (std::size_t begin = 0;; begin += kPiece - kShared) {
      Unescaped text(line.substr(begin, kPiece));
      for (int level = 0; level < kMostLevels && text.take_back_one(); ++level) {
        hiding.look_at(text, begin);
        hide_shapes(text.text(), asked, hiding);
      }
      if (begin + kPiece >= line.size()) break;
    }
    hiding.look_at_line();
  }

  static void hide_values(std::string_view text, const PatternOfShape& name, const ValueForm& form,
                          Hiding& hiding) {
    const re2::StringPiece whole(text.data(), text.size());
    re2::StringPiece match;
    for (std::size_t at = 0; at < whole.size();) {
      if (!name.regex->Match(whole, at, whole.size(), RE2::UNANCHORED, &match, 1)) return;
      const auto begin = static_cast<std::size_t>(match.data() - whole.data());
      const std::size_t end = begin + match.size();
      const std::string_view value = value_after(text, begin, end, form, hiding.is_cut());
      if (!value.empty()) hiding.hide(value);
      at = std::max(end, at + 1);
    }
  }

  static void hide_secrets(std::string_view text, const PatternOfShape& shape, Hiding& hiding) {
    const re2::StringPiece whole(text.data(), text.size());
    if (!shape.regex->Match(whole, 0, whole.size(), RE2::UNANCHORED, nullptr, 0)) return;
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(shape.group) + 1);
    for (std::size_t at = 0; at < whole.size();) {
      if (!shape.regex->Match(whole, at, whole.size(), RE2::UNANCHORED, groups.data(),
                              shape.group + 1))
        return;
      const re2::StringPiece& secret = groups.back();
      if (!secret.empty()) hiding.hide(without_end_of_string({secret.data(), secret.size()}));
      const auto end = static_cast<std::size_t>(groups[0].data() - whole.data()) + groups[0].size();
      at = std::max(end, at + 1);
    }
  }

  const std::vector<SecretShape>& shapes_;
  std::vector<Literal> literals_;
  TriggerSearch triggers_;        // of the literals
  Asked has_form_;                // by shape: it tests what follows its literal
  std::vector<ValueForm> forms_;  // by shape, as the next
  WhenAsked<PatternsOfShape> patterns_;
};

Secrets::Secrets() = default;
Secrets::Secrets(std::vector<SecretShape> shapes, Were were)
    : shapes_(std::move(shapes)), impl_(std::make_unique<const Impl>(shapes_, were)) {}
Secrets::~Secrets() = default;

bool Secrets::hide(std::string_view line, bool is_cut, OpenSecret& open,
                   std::string& hidden) const {
  return impl_ && impl_->hide(line, is_cut, open, hidden);
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

namespace {

// Calls take(shape, place) for each shape.
template <class Take>
void for_each_shape(std::string_view name, std::string_view text, const Take& take) {
  const YamlFile file(name, text);
  file.read_fields(
      file.root(), "the file", {each("shapes", [&](const YamlNode& entry) {
        SecretShape shape;
        double least = 0;
        file.read_fields(
            entry, "a shape",
            {needed("id", shape.id), maybe("literals", shape.literals), maybe("words", shape.words),
             maybe("then", shape.then), maybe("ends", shape.ends), maybe("least", least),
             maybe("name", shape.name), maybe("value", shape.value),
             maybe("pattern", shape.pattern), maybe("cut_pattern", shape.cut_pattern),
             needed("samples", shape.samples), maybe("harmless", shape.harmless)});
        shape.least = static_cast<std::size_t>(std::clamp(least, 0.0, 64.0));
        if (shape.literals.empty() && shape.words.empty())
          file.place(entry).refuse(
              fmt::format("{}: literals are missing; write literals or words", shape.id));
        if (shape.name.empty() == shape.pattern.empty())
          file.place(entry).refuse(fmt::format("{}: write either a name or a pattern", shape.id));
        for (const std::string& literal : shape.literals)
          if (literal.size() < TriggerSearch::kMinBytes)
            file.place(entry).refuse(
                fmt::format("{}: literal \"{}\" is too short; write at least {} "
                            "characters",
                            shape.id, literal, TriggerSearch::kMinBytes));
        for (const std::string& word : shape.words)
          if (word.size() + 1 < TriggerSearch::kMinBytes)
            file.place(entry).refuse(
                fmt::format("{}: word \"{}\" is too short; write at least {} "
                            "characters",
                            shape.id, word, TriggerSearch::kMinBytes - 1));
        take(std::move(shape), file.place(entry));
      })});
}

}  // namespace

std::vector<SecretShape> read_secret_shapes(std::string_view name, std::string_view text) {
  std::vector<SecretShape> shapes;
  for_each_shape(name, text,
                 [&](SecretShape shape, const auto&) { shapes.push_back(std::move(shape)); });
  return shapes;
}

void check_secret_shapes(std::string_view name, std::string_view text) {
  for_each_shape(name, text, [](const SecretShape& shape, const auto& place) {
    try {
      const Secrets alone({shape});
      std::string hidden;
      for (const std::string& sample : shape.samples)
        if (OpenSecret open;
            !alone.hide(expanded_sample(sample), false, open, hidden) && !open.in_key)
          place.refuse(
              fmt::format("{}: nothing is hidden of the sample \"{}\"; correct the shape or the "
                          "sample",
                          shape.id, sample));
      for (const std::string& sample : shape.harmless)
        if (OpenSecret open; alone.hide(expanded_sample(sample), false, open, hidden))
          place.refuse(
              fmt::format("{}: the harmless \"{}\" becomes \"{}\"; correct the shape or the sample",
                          shape.id, sample, hidden));
    } catch (const std::invalid_argument& error) {
      place.refuse(error.what());
    }
  });
}

}  // namespace faultline
