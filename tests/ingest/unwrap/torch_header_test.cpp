#include "ingest/unwrap/torch_header.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

TEST(TorchHeaders, AreTakenOffWithTheTimeThatTheyTell) {
  const UnwrapCase cases[] = {
      {"the month is not padded, and the fraction is of another clock",
       "[E305 02:47:11.987654321 ProcessGroupNCCL.cpp:616] x",
       {.text = "x", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"no stamp, before 2.4", "[E ProcessGroupNCCL.cpp:475] x", {.text = "x"}},
      {"glog",
       "E1028 12:13:38.405081 632355 ProcessGroupNCCL.cpp:843] x",
       {.text = "x", .wall = "~2025-10-28T12:13:38.405081Z"}},
      {"a logger of Python's",
       "W0305 02:47:20.114000 21700 torch/distributed/elastic/multiprocessing/api.py:897] x",
       {.text = "x", .wall = "~2026-03-05T02:47:20.114Z"}},
      {"an older one",
       "[2024-04-04 12:32:00,896] torch.distributed.elastic.multiprocessing.api: [WARNING] x",
       {.text = "x", .wall = "~2024-04-04T12:32:00.896Z+1000"}},
      {"without a formatter",
       "WARNING:torch.distributed.elastic.agent.server.api:x",
       {.text = "x"}},
      {"an exception is no host's label",
       "DistBackendError: NCCL error in: a.cpp:1",
       {.text = "DistBackendError: NCCL error in: a.cpp:1"}},
      {"no date",
       "[E1399 02:47:11.9 ProcessGroupNCCL.cpp:616] x",
       {.text = "[E1399 02:47:11.9 ProcessGroupNCCL.cpp:616] x"}},
      {"another program's",
       "I0305 02:47:11.123456 1 main.go:53] x",
       {.text = "I0305 02:47:11.123456 1 main.go:53] x"}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

// Logs may be copied long after they were written; the tests read them on 10 March 2026.
TEST(TorchHeaders, TakeTheirYearFromStampsOfTheSameSourceThatNameOne) {
  const std::string glog = "E0309 05:39:29.610144 7 ProcessGroupNCCL.cpp:632] x";
  const std::string with_year[] = {"2024-03-09T05:29:13Z y",
                                   "[Sat Mar  9 05:29:29 2024] mlx5_core 0000:2b:00.0: Link down"};
  EXPECT_EQ(unwrap_all({glog}).front().wall, "~2026-03-09T05:39:29.610144Z");
  for (const std::string& line : with_year)
    EXPECT_EQ(unwrap_all({line, glog}).back().wall, "~2024-03-09T05:39:29.610144Z") << line;
  EXPECT_EQ(unwrap_all({with_year[0], "Mar  9 05:39:29 node-1 kernel: x"}).back().wall,
            "~2024-03-09T05:39:29Z+1000000");
  EXPECT_EQ(unwrap_all({"1970-01-01T00:00:13Z y", glog}).back().wall,
            "~2026-03-09T05:39:29.610144Z")
      << "a clock that was not set tells no year";
}

TEST(TorchHeaders, FindTheirLineBehindWhatEndedWithoutANewline) {
  EXPECT_EQ(find_glued_torch_line("  ^^^^[rank1]:[E1003 18:37:01.8 ProcessGroupNCCL.cpp:607] x"),
            6U);
  EXPECT_EQ(find_glued_torch_line("$ [rank12]:[W ProcessGroupNCCL.cpp:607] x"), 2U);
  EXPECT_EQ(find_glued_torch_line("[rank1]:[E1003 18:37:01.8 ProcessGroupNCCL.cpp:607] x"),
            std::string_view::npos);
  EXPECT_EQ(find_glued_torch_line("see [rank1]: x"), std::string_view::npos);
}

}  // namespace
}  // namespace faultline
