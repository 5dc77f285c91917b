// Secrets does not try its patterns on most lines. SlowSecrets tries them on each line, and both
// must hide the same.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/secret_value.h"
#include "rules/knowledge/secrets.h"
#include "rules/knowledge/trigger_search.h"
#include "rules/knowledge/unescaped.h"
#include "sampled.h"

namespace faultline {
namespace {

class SlowSecrets {
 public:
  explicit SlowSecrets(const std::vector<SecretShape>& shapes) {
    for (const SecretShape& shape : shapes) {
      Shape& own = shapes_.emplace_back(
          Shape{.literals = shape.literals,
                .form{shape.then, shape.least, *value_kind(shape.value), shape.ends}});
      own.literals.insert(own.literals.end(), shape.words.begin(), shape.words.end());
      own.name = regex(shape.name);
      own.pattern = regex(shape.pattern);
      own.cut_pattern = regex(shape.cut_pattern);
    }
  }

  std::string hidden(const std::string& line, bool is_cut) const {
    std::string result = line;
    OpenSecret open;
    none_.hide(line, is_cut, open, result);  // hides what reads like a private key
    Unescaped text(line);
    for (int level = 0; level == 0 || (level <= 8 && text.take_back_one()); ++level)
      for (const Shape& shape : shapes_) {
        const auto stands = [&](const std::string& literal) {
          std::string escaped = literal;
          RE2::GlobalReplace(&escaped, "/", R"(\\/)");
          return stands_in(line, literal, shape.form) || stands_in(line, escaped, shape.form);
        };
        if (std::ranges::none_of(shape.literals, stands)) continue;
        if (shape.name) hide_values(text, shape, is_cut, result);
        if (shape.pattern) hide_secrets(text, *shape.pattern, result);
        if (is_cut && shape.cut_pattern) hide_secrets(text, *shape.cut_pattern, result);
      }
    return result;
  }

 private:
  struct Shape {
    std::vector<std::string> literals;
    ValueForm form;
    std::unique_ptr<const RE2> name = nullptr;
    std::unique_ptr<const RE2> pattern = nullptr;
    std::unique_ptr<const RE2> cut_pattern = nullptr;
  };

  static std::unique_ptr<const RE2> regex(const std::string& pattern) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    return pattern.empty() ? nullptr : std::make_unique<const RE2>(pattern, options);
  }

  static bool stands_in(const std::string& line, const std::string& literal,
                        const ValueForm& form) {
    for (std::size_t at = line.find(literal); at != line.npos; at = line.find(literal, at + 1)) {
      const std::size_t end = at + literal.size();
      if (!form.ends || end == line.size() || form.behind_name.has(line[end])) return true;
    }
    return false;
  }

  static void hide(const Unescaped& text, std::string_view secret, std::string& result) {
    if (secret.empty()) return;
    const Unescaped::Place place = text.place_of(secret);
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(place.begin),
              result.begin() + static_cast<std::ptrdiff_t>(place.end), '*');
  }

  static void hide_values(const Unescaped& text, const Shape& shape, bool is_cut,
                          std::string& result) {
    const re2::StringPiece whole(text.text().data(), text.text().size());
    re2::StringPiece match;
    for (std::size_t at = 0; at < whole.size();) {
      if (!shape.name->Match(whole, at, whole.size(), RE2::UNANCHORED, &match, 1)) return;
      const auto begin = static_cast<std::size_t>(match.data() - whole.data());
      hide(text, value_after(text.text(), begin, begin + match.size(), shape.form, is_cut), result);
      at = std::max(begin + match.size(), at + 1);
    }
  }

  static void hide_secrets(const Unescaped& text, const RE2& pattern, std::string& result) {
    const re2::StringPiece whole(text.text().data(), text.text().size());
    const int secret = pattern.NamedCapturingGroups().at("secret");
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(secret) + 1);
    for (std::size_t at = 0; at < whole.size();) {
      if (!pattern.Match(whole, at, whole.size(), RE2::UNANCHORED, groups.data(), secret + 1))
        return;
      hide(text, without_end_of_string({groups.back().data(), groups.back().size()}), result);
      const auto begin = static_cast<std::size_t>(groups[0].data() - whole.data());
      at = std::max(begin + groups[0].size(), at + 1);
    }
  }

  const Secrets none_{std::vector<SecretShape>{}};
  std::vector<Shape> shapes_;
};

class SecretsSpared : public testing::Test {
 protected:
  void expect_the_same(const std::string& line) const {
    for (const bool is_cut : {false, true}) {
      std::string result;
      OpenSecret open;
      if (!catalog_.secrets->hide(line, is_cut, open, result)) result = line;
      ASSERT_EQ(result, slow_.hidden(line, is_cut)) << "of " << line << (is_cut ? ", cut" : "");
    }
  }

  std::vector<std::string> samples() const {
    std::vector<std::string> lines;
    for (const SecretShape& shape : catalog_.secrets->shapes())
      for (const auto* some : {&shape.samples, &shape.harmless})
        for (const std::string& sample : *some) lines.push_back(expanded_sample(sample));
    return lines;
  }

  const Catalog catalog_ = load_catalog();
  const SlowSecrets slow_{catalog_.secrets->shapes()};
};

TEST_F(SecretsSpared, OfGoldenLinesTheSameIsHidden) {
  std::size_t lines = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TESTS_DIR "/parsers/golden")) {
    std::ifstream file(folder.path() / "input.log", std::ios::binary);
    for (std::string line; std::getline(file, line); ++lines)
      ASSERT_NO_FATAL_FAILURE(expect_the_same(line)) << folder.path();
  }
  EXPECT_GT(lines, 500U);
}

TEST_F(SecretsSpared, OfSamplesThatAreBentTheSameIsHidden) {
  const std::vector<std::string> all = samples();
  std::mt19937 random(20);
  const auto below = [&](std::size_t count) { return random() % std::max<std::size_t>(count, 1); };
  const std::vector<std::string> pieces{" ",
                                        "\t",
                                        "\"",
                                        "'",
                                        "=",
                                        ":",
                                        "@",
                                        "/",
                                        "-",
                                        "_",
                                        "*",
                                        ".",
                                        ";",
                                        "&",
                                        "?",
                                        "A",
                                        "z7",
                                        "\xe9",
                                        "\v",
                                        ",",
                                        " = ",
                                        "': '",
                                        "token",
                                        "://",
                                        "\\",
                                        "\\\"",
                                        "\\n",
                                        "->",
                                        "%3D",
                                        "', '",
                                        std::string(250, ' '),
                                        std::string(300, ' '),
                                        std::string(300, 'x'),
                                        std::string(40, '"')};
  for (std::size_t number = 0; number < all.size(); ++number)
    for (std::size_t i = 0; i < 200; i += every(200)) {
      std::string line = all[number];
      for (std::size_t bends = 1 + below(3); bends > 0; --bends) {
        const std::size_t at = below(line.size() + 1);
        switch (below(5)) {
          case 0:
            line.erase(at, 1 + below(6));
            break;
          case 1:
            line.insert(at, pieces[below(pieces.size())]);
            break;
          case 2:
            line.insert(at, line.substr(below(line.size()), below(20)));
            break;
          case 3:
            line = all[below(all.size())] + pieces[below(pieces.size())] + line;
            break;
          default:
            line.replace(at, std::min<std::size_t>(1, line.size() - at), pieces[below(20)]);
        }
      }
      ASSERT_NO_FATAL_FAILURE(expect_the_same(line));
    }
}

TEST(TriggerSearch, FindsEachLiteralAtEachPlaceWithWhatFollowsIt) {
  using Literal = TriggerSearch::Literal;
  const TriggerSearch search({Literal{"AKIA"}, {"password"}, {"p://"}, {"password "}});
  for (std::size_t before = 0; before < 20; ++before)
    for (const std::string after : {"", "x", "xy", "xyz", "................."}) {
      const std::string line = std::string(before, '.') + "password AKIAp://" + after;
      std::vector<std::pair<std::uint32_t, std::size_t>> found;
      search.find(
          line, [&](std::uint32_t literal, std::size_t end) { found.emplace_back(literal, end); });
      std::ranges::sort(found);
      const std::vector<std::pair<std::uint32_t, std::size_t>> expected{
          {0, before + 13}, {1, before + 8}, {2, before + 17}, {3, before + 9}};
      EXPECT_EQ(found, expected) << line;
    }
  const TriggerSearch of_words({TriggerSearch::Literal{.text = "hf_", .before = " ("}});
  for (const std::string before : {"", " ", "x ", "(", "xy("}) {
    std::size_t found = 0;
    of_words.find(before + "hf_x", [&](std::uint32_t, std::size_t end) {
      EXPECT_EQ(end, before.size() + 3);
      ++found;
    });
    EXPECT_EQ(found, 1U) << before;
  }
  search.find("abc", [](std::uint32_t, std::size_t) { ADD_FAILURE(); });
  search.find("", [](std::uint32_t, std::size_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace faultline
