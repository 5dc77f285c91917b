#include "service/repeats.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

constexpr Timestamp day(int number) { return Timestamp(std::chrono::days(20000 + number)); }

TEST(Repeats, TellHowManyJobsInHowManyDays) {
  const auto repeat =
      repeat_of("GPU 0", {{"a", Cause::gpu_off_bus, day(0)},
                          {"b", Cause::gpu_ecc_uncorrectable, day(4)},
                          {"c", Cause::gpu_off_bus, day(9) + std::chrono::hours(1)}});
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->text, "GPU 0 failed three jobs in ten days");
  EXPECT_EQ(repeat->causes.size(), 2U);
}

TEST(Repeats, AreOfSeveralJobs) {
  EXPECT_FALSE(repeat_of("GPU 0", {}));
  EXPECT_FALSE(
      repeat_of("GPU 0", {{"a", Cause::gpu_off_bus, day(0)}, {"a", Cause::gpu_off_bus, day(3)}}));
}

TEST(Repeats, TellThePartsOwnFailuresAndNotThoseOfPrograms) {
  const auto repeat = repeat_of("GPU 0", {{"a", Cause::software_gpu_memory_fault, day(0)},
                                          {"b", Cause::gpu_off_bus, day(1)},
                                          {"c", Cause::gpu_off_bus, day(1)},
                                          {"d", Cause::software_gpu_memory_fault, day(2)}});
  ASSERT_TRUE(repeat);
  EXPECT_EQ(repeat->text, "GPU 0 failed two jobs in one day");
  EXPECT_FALSE(repeat_of("GPU 0", {{"a", Cause::software_gpu_memory_fault, day(0)},
                                   {"b", Cause::gpu_off_bus, day(1)}}));
}

}  // namespace
}  // namespace faultline
