// Secrets spares its patterns most lines. Here they are tried on each, as what it must agree with.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/secrets.h"
#include "rules/knowledge/trigger_search.h"

namespace faultline {
namespace {

class SlowSecrets {
 public:
  explicit SlowSecrets(const std::vector<SecretShape>& shapes) {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    for (const SecretShape& shape : shapes) {
      Shape& own = shapes_.emplace_back();
      own.literals = shape.literals;
      own.pattern = std::make_unique<const RE2>(shape.pattern, options);
      if (!shape.cut_pattern.empty())
        own.cut_pattern = std::make_unique<const RE2>(shape.cut_pattern, options);
    }
  }

  std::string hidden(const std::string& line, bool is_cut) const {
    std::string result = line;
    bool in_key = false;
    none_.hide(line, is_cut, in_key, result);  // what reads like a private key
    for (const Shape& shape : shapes_) {
      const auto stands = [&](const std::string& text) { return line.find(text) != line.npos; };
      if (std::ranges::none_of(shape.literals, stands)) continue;
      hide(line, *shape.pattern, result);
      if (is_cut && shape.cut_pattern) hide(line, *shape.cut_pattern, result);
    }
    return result;
  }

 private:
  struct Shape {
    std::vector<std::string> literals;
    std::unique_ptr<const RE2> pattern;
    std::unique_ptr<const RE2> cut_pattern;
  };

  static void hide(const std::string& line, const RE2& pattern, std::string& result) {
    const re2::StringPiece whole(line);
    const int secret = pattern.NamedCapturingGroups().at("secret");
    std::vector<re2::StringPiece> groups(static_cast<std::size_t>(secret) + 1);
    for (std::size_t at = 0; at < line.size();) {
      if (!pattern.Match(whole, at, line.size(), RE2::UNANCHORED, groups.data(), secret + 1))
        return;
      const auto place = [&](const re2::StringPiece& piece) {
        return static_cast<std::size_t>(piece.data() - line.data());
      };
      if (!groups.back().empty())
        std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(place(groups.back())),
                    groups.back().size(), '*');
      at = std::max(place(groups[0]) + groups[0].size(), at + 1);
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
      bool in_key = false;
      if (!catalog_.secrets->hide(line, is_cut, in_key, result)) result = line;
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
                                        std::string(250, ' '),
                                        std::string(300, ' '),
                                        std::string(300, 'x'),
                                        std::string(40, '"')};
  for (std::size_t number = 0; number < all.size(); ++number)
    for (int i = 0; i < 60; ++i) {
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
  const TriggerSearch search({"AKIA", "password", "p://", "password "});
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
  search.find("abc", [](std::uint32_t, std::size_t) { ADD_FAILURE(); });
  search.find("", [](std::uint32_t, std::size_t) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace faultline
