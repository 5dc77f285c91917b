#include "ship/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(StateFiles, GiveBackWhatWasWrittenAndAreForTheirOwnerOnly) {
  Workshop workshop;
  const ReaderState state{
      .path = "/logs/nccl.log",
      .target = {.job = "llama", .host = "gpu-7", .source = "gpu-7/logs/nccl.log", .rank = 3},
      .acknowledged = std::uint64_t{1} << 60,
      .looked_at = 1764370000.25,
      .parts = {{.id = {.device = 66, .inode = UINT64_MAX},
                 .begin = 7,
                 .hole = 4096,
                 .read = 9,
                 .head = {9, UINT64_MAX},
                 .tail = {9, 0}}}};
  ASSERT_TRUE(write_state(workshop.folder(), {state}));
  const std::vector<ReaderState> read = read_state(workshop.folder());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].path, state.path);
  EXPECT_EQ(read[0].target, state.target);
  EXPECT_EQ(read[0].acknowledged, state.acknowledged);
  EXPECT_EQ(read[0].looked_at, state.looked_at);
  EXPECT_EQ(read[0].parts, state.parts);
  struct stat status{};
  ASSERT_EQ(stat((workshop.folder() / "state.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(StateFiles, ThatAreDamagedAreAsIfThereWereNone) {
  Workshop workshop;
  for (const char* text : {"", "{", "[]", "{\"form\":1}", "{\"form\":2,\"logs\":[]}",
                           "{\"form\":1,\"logs\":[{\"path\":3}]}"}) {
    workshop.write("state.json", text);
    EXPECT_THAT(read_state(workshop.folder()), IsEmpty()) << text;
  }
}

TEST(StateFolders, HaveOneUser) {
  Workshop workshop;
  const std::filesystem::path folder = workshop.folder() / "state";
  const auto first = lock_state_folder(folder);
  ASSERT_TRUE(first);
  const auto second = lock_state_folder(folder);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("--state"));
}

}  // namespace
}  // namespace faultline
