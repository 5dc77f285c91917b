#include "model/cause.h"

#include <gtest/gtest.h>

#include <set>

namespace faultline {
namespace {

TEST(CauseClasses, AreNamedFamilyDotNameAndOnce) {
  std::set<std::string_view> names;
  for (const CauseClass& c : cause_classes()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_EQ(std::count(c.name.begin(), c.name.end(), '.'), 1) << c.name;
    EXPECT_EQ(c.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_."),
              std::string_view::npos)
        << c.name;
  }
  EXPECT_EQ(names.size(), 51u);
}

TEST(CauseClasses, TellCausesFromSymptoms) {
  ASSERT_NE(cause_class("gpu.off_bus"), nullptr);
  EXPECT_FALSE(cause_class("gpu.off_bus")->is_symptom);
  EXPECT_EQ(cause_class("gpu.off_bus")->family(), "gpu");
  for (const char* symptom :
       {"collective.rank_behind", "collective.stalled", "collective.timeout", "process.aborted",
        "process.silent", "nccl.error", "gpu.teardown", "host.error"}) {
    ASSERT_NE(cause_class(symptom), nullptr) << symptom;
    EXPECT_TRUE(cause_class(symptom)->is_symptom) << symptom;
  }
}

TEST(CauseClasses, KnowNoOthers) {
  EXPECT_EQ(cause_class(""), nullptr);
  EXPECT_EQ(cause_class("gpu"), nullptr);
  EXPECT_EQ(cause_class("gpu.off_bus "), nullptr);
}

}  // namespace
}  // namespace faultline
