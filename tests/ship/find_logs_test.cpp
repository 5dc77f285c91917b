#include "ship/find_logs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ship/log_files.h"

namespace faultline {
namespace {

TEST(LogNames, AreThoseOfRotatedFilesWithoutTheirNumberOrDate) {
  for (const char* part : {"nccl.log.1", "nccl.log.12.gz", "nccl.log-20261128", "nccl.log.gz",
                           "nccl.log.2026-11-28", "nccl.log-20261128-153000.zst", "nccl.log"})
    EXPECT_EQ(log_name_of(part), "nccl.log") << part;
  for (const char* other : {"nccl.log.4711", "nccl.log.20269999", "rank.0", "rank_7", "20261128"})
    EXPECT_EQ(log_name_of(other), other);
}

}  // namespace
}  // namespace faultline
