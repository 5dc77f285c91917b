// A body may end inside a setting that spans two lines, or inside the secret itself.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <string>

#include "ingest/reader.h"
#include "model/json.h"
#include "pasted.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "rules/knowledge/catalog.h"

namespace faultline {
namespace {

TEST(SecretsOverLines, AreKeptNowhereWhereverABodyEnds) {
  const auto asked = std::make_shared<AskedByCatalog>(load_catalog());
  const std::string value = "hunter2hunter2";
  const std::string text = "env:\n- name: DB_PASSWORD\n  value: " + value + "\nERROR: it failed\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Reader first(Cursor{}, Timestamp(), asked);
    first.keep_lines();
    first.feed(std::string_view(text).substr(0, cut));
    first.finish();
    first.take();
    std::string kept = first.take_kept_lines();
    kept += first.cursor().carry;
    Reader second(first.cursor(), Timestamp(), asked);
    second.keep_lines();
    second.feed(std::string_view(text).substr(cut));
    second.finish();
    second.take();
    kept += second.take_kept_lines();
    for (std::size_t at = 0; at + 4 <= value.size(); ++at)
      ASSERT_EQ(kept.find(value.substr(at, 4)), std::string::npos) << "cut at " << cut;
    const bool is_parted = cut > 0 && cut < 3;
    ASSERT_EQ(kept.find("env") == std::string::npos, is_parted) << "cut at " << cut;
  }
}

// The rest of the line may still come, but the line is judged and shown before that.
TEST(SecretsOverLines, AreHiddenInALineWhoseEndHasNotCome) {
  const std::string password = "hunter2hunter2";
  const std::string error = "RuntimeError: cannot reach postgres://trainer:" + password;
  for (const std::string label : {"", "[rank3]: "})
    for (std::size_t letters = 1; letters <= password.size(); ++letters) {
      const Diagnosis diagnosis = pasted(label + "Traceback (most recent call last):\n" + label +
                                         "  File \"train.py\", line 3, in main\n" + label +
                                         error.substr(0, error.size() - password.size() + letters));
      const std::string told = boost::json::serialize(to_json(diagnosis));
      EXPECT_NE(told.find("postgres://trainer:*"), std::string::npos) << told;
      EXPECT_EQ(told.find("postgres://trainer:h"), std::string::npos) << told;
    }
}

}  // namespace
}  // namespace faultline
