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
  EXPECT_EQ(names.size(), 52u);
}

TEST(CauseClasses, TellCausesFromSymptoms) {
  EXPECT_FALSE(is(Cause::gpu_off_bus, Trait::symptom));
  for (const Cause symptom :
       {Cause::collective_rank_behind, Cause::collective_stalled, Cause::collective_timeout,
        Cause::process_aborted, Cause::process_silent, Cause::nccl_error, Cause::gpu_teardown,
        Cause::host_error})
    EXPECT_TRUE(is(symptom, Trait::symptom)) << name_of(symptom);
}

TEST(CauseClasses, AreOfTheFamilyThatTheirNamesBeginWith) {
  EXPECT_TRUE(is_of(Cause::gpu_off_bus, Family::gpu));
  EXPECT_TRUE(is_of(Cause::host_down, {Family::gpu, Family::host}));
  EXPECT_FALSE(is_of(Cause::gpu_off_bus, {Family::pcie, Family::host}));
  EXPECT_FALSE(is_of(Cause::none, Family::gpu));
}

TEST(CauseClasses, AreFoundByTheirNames) {
  for (const CauseClass& known : cause_classes())
    EXPECT_EQ(name_of(cause_named(known.name)), known.name);
}

TEST(CauseClasses, KnowNoOthers) {
  EXPECT_EQ(cause_named(""), Cause::none);
  EXPECT_EQ(cause_named("gpu"), Cause::none);
  EXPECT_EQ(cause_named("gpu.off_bus "), Cause::none);
}

}  // namespace
}  // namespace faultline
