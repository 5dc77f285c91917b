// A DONE line names no communicator: those of its process are asked whose call it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "job.h"

namespace faultline {
namespace {

TEST(EndedCalls, OfTheFirstCommunicatorAreFoundAfterManyOthersWereLeft) {
  constexpr std::uint64_t kOpCount = 100'000;
  Job job;
  job.join_all(2);
  for (int i = 0; i < 2500; ++i) {
    const std::string group = fmt::format("group-{}", i);
    job.join(0, group, 0, 2);
    job.end(0, group, CommunicatorEnding::destroyed);
  }
  job.call_once(0, all_reduce(), "world", kOpCount);
  Signature done = all_reduce();
  done.done = true;
  job.call_once(0, done, "world", kOpCount);
  EXPECT_EQ(job.state.progress().members().front().done_op_count, kOpCount);
}

}  // namespace
}  // namespace faultline
