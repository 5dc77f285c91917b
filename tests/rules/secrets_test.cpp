#include "rules/knowledge/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rules/knowledge/catalog.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;

const Secrets& shipped() {
  static const std::shared_ptr<const Secrets> secrets = load_catalog().secrets;
  return *secrets;
}

std::string hidden(const Secrets& secrets, const std::string& line, bool is_cut = false) {
  std::string result;
  OpenSecret open;
  return secrets.hide(line, is_cut, open, result) ? result : line;
}

TEST(Secrets, OfSixtyShapesAreHiddenInPlaceAndWhatLooksAlikeStays) {
  std::set<std::string> ids;
  for (const SecretShape& shape : shipped().shapes()) {
    SCOPED_TRACE(shape.id);
    EXPECT_TRUE(ids.insert(shape.id).second);
    EXPECT_FALSE(shape.samples.empty());
    EXPECT_FALSE(shape.harmless.empty());
    for (const std::string& sample : shape.samples) {
      const std::string line = expanded_sample(sample);
      const std::string result = hidden(shipped(), line);
      EXPECT_EQ(result.size(), line.size());
      EXPECT_NE(result, line);
      for (std::size_t i = 0; i < line.size(); ++i)
        EXPECT_TRUE(result[i] == line[i] || result[i] == '*') << result;
    }
    for (const std::string& line : shape.harmless) EXPECT_EQ(hidden(shipped(), line), line);
  }
  EXPECT_GE(ids.size(), 60U);
}

// A body may end inside a secret: its first part is hidden, and so is the rest.
TEST(Secrets, HiddenInAHalfAreHiddenInTheWhole) {
  for (const SecretShape& shape : shipped().shapes())
    for (const std::string& sample : shape.samples) {
      const std::string line = expanded_sample(sample);
      const std::string whole = hidden(shipped(), line);
      for (std::size_t cut = 1; cut < line.size(); ++cut) {
        const std::string joined =
            hidden(shipped(), hidden(shipped(), line.substr(0, cut), true) + line.substr(cut));
        for (std::size_t i = 0; i < line.size(); ++i)
          ASSERT_TRUE(joined[i] == '*' || whole[i] != '*')
              << shape.id << " cut at " << cut << ": " << joined;
      }
    }
}

TEST(Secrets, OfAPrivateKeyAllLinesAreHiddenBehindAnyLabel) {
  const std::string run = expanded_sample("<64>");
  for (const std::string label : {"", "[rank3]: ", "2026-03-05T02:47:10Z gpu-7 app[7]: "}) {
    SCOPED_TRACE(label);
    OpenSecret open;
    std::string line;
    EXPECT_FALSE(shipped().hide(label + "-----BEGIN RSA PRIVATE KEY-----", false, open, line));
    EXPECT_TRUE(open.in_key);
    EXPECT_TRUE(shipped().hide(label + run, false, open, line));
    EXPECT_EQ(line, label + std::string(run.size(), '*'));
    EXPECT_TRUE(shipped().hide(label + "Xk9=", false, open, line));
    EXPECT_EQ(line, label + "****");
    EXPECT_FALSE(shipped().hide(label + "-----END RSA PRIVATE KEY-----", false, open, line));
    EXPECT_FALSE(open.in_key);
  }
}

TEST(Secrets, OfAPrivateKeyWhoseBeginningWasNotSeenLongLinesAreHidden) {
  EXPECT_EQ(hidden(shipped(), expanded_sample("<64>")), std::string(64, '*'));
  EXPECT_EQ(hidden(shipped(), std::string(64, '=')), std::string(64, '='));
  EXPECT_EQ(hidden(shipped(), "sha256:" + std::string(64, 'a')), "sha256:" + std::string(64, 'a'));
}

TEST(Secrets, OfAUsersOwnStandBesideTheOthers) {
  Workshop workshop;
  workshop.write("rules/secrets.yaml",
                 "shapes:\n  - id: ours.badge\n    literals: [BADGE-]\n    pattern: "
                 "'BADGE-(?P<secret>\\d+)'\n    samples: [BADGE-4711]\n");
  const Catalog catalog = load_catalog(workshop.folder() / "rules");
  EXPECT_EQ(hidden(*catalog.secrets, "badge BADGE-4711 with DB_PASSWORD=x7"),
            "badge BADGE-**** with DB_PASSWORD=**");
}

TEST(Secrets, AreRefusedWithTheFileTheLineAndTheMend) {
  const struct {
    const char* why;
    const char* shape;
    const char* complaint;
  } cases[] = {
      {"no group", "literals: [BADGE-]\n    pattern: 'BADGE-\\d+'\n    samples: [BADGE-4]",
       "has no group (?P<secret>...)"},
      {"no expression",
       "literals: [BADGE-]\n    pattern: 'BADGE-(?P<secret>'\n    samples: [BADGE-4]",
       "is not a valid regular expression"},
      {"a short literal", "literals: [BA]\n    pattern: 'BA(?P<secret>\\d)'\n    samples: [BA4]",
       "is too short"},
      {"a sample that shows it",
       "literals: [BADGE-]\n    pattern: 'BADGE-(?P<secret>\\d+)'\n    samples: [BADGE-x]",
       "nothing is hidden of the sample"},
  };
  for (const auto& it : cases) {
    SCOPED_TRACE(it.why);
    Workshop workshop;
    workshop.write("rules/secrets.yaml",
                   std::string("shapes:\n  - id: ours\n    ") + it.shape + "\n");
    try {
      load_catalog(workshop.folder() / "rules");
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(it.complaint));
      EXPECT_THAT(error.what(), HasSubstr(":2: "));
    }
  }
}

}  // namespace
}  // namespace faultline
