// A body may end anywhere in a setting that lies over two lines.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/asked_by_catalog.h"
#include "ingest/reader.h"
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

}  // namespace
}  // namespace faultline
