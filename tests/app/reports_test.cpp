// A hang for which the only evidence is a tool's report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "workshop.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kReport = R"(NCCL version 2.26.2 compiled with CUDA 12.8
CUDA runtime version 12080, driver version 12080

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          8            1         16       16

Communicators... (0.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         8        16        16   RUNNING  MISMATCH

Errors
======

Warnings
========

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllReduce operation counts
  15 ranks have launched up to operation 468
  Rank 11 has launched up to operation 467 -- GPU 3 managed by process 40315 on node 10.20.0.12

)";

TEST(Reports, AFolderWithNothingButANcclrasReportNamesTheRank) {
  Workshop workshop;
  workshop.write("job/something.txt", kReport);
  const int status = std::system(("cd '" + workshop.folder().string() +
                                  "' && '" FAULTLINE_BINARY "' diagnose --format json job >out")
                                     .c_str());
  const std::string json = read_file(workshop.folder() / "out");
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(
      json,
      AllOf(HasSubstr("\"verdict\": \"hang\""), HasSubstr("\"class\": \"collective.rank_behind\""),
            HasSubstr("Rank 11 (process 40315 on 10.20.0.12)"), HasSubstr("\"line\": 26")));
}

}  // namespace
}  // namespace faultline
