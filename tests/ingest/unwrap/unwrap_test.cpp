#include "ingest/unwrap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unwrapping.h"

namespace faultline {
namespace {

using namespace std::string_literals;

const std::string kNccl = "node7:4242:4243 [0] NCCL INFO AllReduce: opCount 1e";

TEST(Unwrapper, PeelsLayersInAnyNesting) {
  const UnwrapCase cases[] = {
      {"CRI around syslog around a kernel stamp",
       "2026-03-05T02:47:11.500000000Z stdout F Mar  5 02:47:11 gpu-node-17 kernel: [    1.000000] "
       "NVRM: Xid",
       {.text = "NVRM: Xid",
        .host = "gpu-node-17",
        .wall = "2026-03-05T02:47:11.500Z",
        .uptime_us = 1'000'000}},
      {"CRI around syslog around a launcher around Ray",
       "2026-03-05T02:47:11.500000000Z stderr F Mar  5 02:47:11 gpu-node-17 slurm[7]: 3: "
       "(Worker pid=5) [rank9]: x",
       {.text = "x",
        .host = "gpu-node-17",
        .rank = 9,
        .pid = 5,
        .from_user_space = true,
        .wall = "2026-03-05T02:47:11.500Z"}},
      {"docker around journald around CRI around srun",
       R"({"log":"{\"MESSAGE\":\"2026-03-05T02:47:11Z stdout F 3: a\",\"_HOSTNAME\":\"n\"}\n",)"
       R"("stream":"stdout","time":"2026-03-05T02:47:11Z"})",
       {.text = "a", .host = "n", .rank = 3, .wall = "2026-03-05T02:47:11Z+1000000"}},
      {"quoted, indented, srun, dmesg",
       ">   3: [    1.000000] NVRM: x",
       {.text = "NVRM: x", .rank = 3, .uptime_us = 1'000'000}},
      {"pdsh around syslog: the host's own name wins",
       "worker-0: 2026-03-05T02:47:11Z gpu-node-17 kernel: x",
       {.text = "x", .host = "gpu-node-17", .wall = "2026-03-05T02:47:11Z+1000000"}},
      {"a pod around docker-compose: the inner name wins",
       "[pod/a-1/b] c-2  | x",
       {.text = "x", .host = "c-2"}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(Unwrapper, AnOldLogPrintedLaterKeepsItsOwnTimes) {
  for (const char* now : {"2026-03-07T09:00:00.5Z", "2026-03-05T04:01:11.5Z"}) {
    SCOPED_TRACE(now);
    EXPECT_EQ(unwrap_one(std::string(now) + " stdout F [Thu Mar  5 02:47:11 2026] x").wall,
              "~2026-03-05T02:47:11Z+1000000");
  }
}

TEST(Unwrapper, ACollectorsStampTellsTheZoneOfTheOneInside) {
  for (const char* local : {"02:47:11", "03:47:11", "08:17:11"}) {
    SCOPED_TRACE(local);
    const std::string line = "2026-03-05T02:47:12.5Z stdout F [Thu Mar  5 " + std::string(local);
    EXPECT_EQ(unwrap_one(line + " 2026] x").wall, "2026-03-05T02:47:12.500Z+100000");
  }
}

TEST(Unwrapper, TakesOutWhatIsNoText) {
  const UnwrapCase cases[] = {
      {"carriage return", kNccl + "\r", {.text = kNccl}},
      {"several", kNccl + "\r\r", {.text = kNccl}},
      {"colours", "\x1b[1;31m" + kNccl + "\x1b[0m\x1b[K", {.text = kNccl}},
      {"a window title", "\x1b]0;title\a" + kNccl, {.text = kNccl}},
      {"an escape that breaks off", kNccl + "\x1b[3", {.text = kNccl}},
      {"a hole in the file", std::string(100, '\0') + kNccl, {.text = kNccl}},
      {"a hole as a pager shows it", "^@^@^@" + kNccl, {.text = kNccl}},
      {"the key that ended it", "^C" + kNccl, {.text = kNccl}},
      {"NUL bytes inside", "a\0b\0"s, {.text = "ab"}},
      {"byte order mark", "\xef\xbb\xbf" + kNccl, {.text = kNccl}},
      {"a lone byte", "\x1b", {.text = ""}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(Unwrapper, AProgressBarDoesNotHideTheLineBehindIt) {
  EXPECT_EQ(unwrap_all({"3: \r 10%|#   |\r 20%|##  |\r" + kNccl + "\r"}),
            (std::vector<Told>{{.text = " 10%|#   |", .rank = 3},
                               {.text = " 20%|##  |", .rank = 3},
                               {.text = kNccl, .rank = 3}}));
  EXPECT_EQ(unwrap_all({" 10%|#   |\r[rank3]: x"}),
            (std::vector<Told>{{.text = " 10%|#   |"}, {.text = "x", .rank = 3}}));
}

TEST(Unwrapper, AVeryLongProgressBarIsNotTakenApartWithoutEnd) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) line += "x\r";
  EXPECT_LE(unwrap_all({line}).size(), 5000u);
}

TEST(Unwrapper, TextThatIsNotWrappedIsGivenAsItLies) {
  const std::string line = kNccl + " more";
  Unwrapper unwrapper(reference_time());
  const auto messages = unwrapper.unwrap(line);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].text.data(), line.data());
  EXPECT_EQ(unwrapper.save(), "");
}

// One log that uses everything that the unwrapper remembers between lines.
std::vector<std::string> lines_that_need_each_other() {
  return {
      "2026-03-05T02:47:11Z stdout P 3: ha",
      R"({"log":"[rank1]: a","stream":"stderr","time":"2026-03-05T02:47:11Z"})",
      "2026-03-05T02:47:12Z stdout F lf",
      R"({"log":" b\n","stream":"stderr","time":"2026-03-05T02:47:12Z"})",
      "{",
      "   \"dmesg\": [",
      "      {",
      "         \"pri\": 4,",
      "         \"time\":  8423.118204,",
      "         \"msg\": \"first\"",
      "      },{",
      "         \"pri\": 30,",
      "         \"msg\": \"second\"",
      "      }",
      "   ]",
      "}",
      "[Mar 5 02:47] one",
      "[  +0.500000] two",
      "[  +0.500000] three",
      "6,1,5,-;pci found",
      " SUBSYSTEM=pci",
      " DEVICE=+pci:0000:3b:00.0",
      "gpu-8: > Errors for 0x7cfe900300a1b2c3 \"gpu-8 mlx5_0\"",
      "gpu-8: after a report",
      "__CURSOR=s=1",
      "_HOSTNAME=n",
      "MESSAGE",
      "\x0b\0\0\0\0\0\0\0first"s,
      "lines",
      "OTHER",
      "",
      "\0\0\0\0\0\0\0"
      "0123456789"s,
      "",
      "2026-03-05T02:47:13Z stderr P never ended",
      "__CURSOR=s=2",
      "MESSAGE=never ended",
  };
}

TEST(Unwrapper, GoesOnAfterARestartAtAnyLine) {
  const std::vector<std::string> lines = lines_that_need_each_other();
  const std::vector<Told> undisturbed = unwrap_all(lines);
  EXPECT_EQ(undisturbed.size(), 15u);
  EXPECT_EQ(unwrap_all_with_restarts(lines), undisturbed);
}

TEST(Unwrapper, ADamagedMemoryIsForgotten) {
  Unwrapper unwrapper(reference_time());
  std::vector<std::string> memories;
  for (const std::string& line : lines_that_need_each_other()) {
    unwrapper.unwrap(line);
    memories.push_back(unwrapper.save());
  }
  for (const std::string& memory : memories) {
    for (std::size_t size = 0; size < memory.size(); ++size) {
      unwrapper.restore(std::string_view(memory).substr(0, size));
      EXPECT_EQ(unwrapper.save(), "") << "after " << size << " bytes";
    }
    unwrapper.restore(memory + "x");
    EXPECT_EQ(unwrapper.save(), "");
    unwrapper.restore(memory);
    EXPECT_EQ(unwrapper.save(), memory);
  }
}

TEST(Unwrapper, EveryTornPieceOfEveryFormPasses) {
  for (const std::string& line : {
           "2026-03-05T02:47:11.123456789Z stdout F 3: [rank3]: x"s,
           R"({"log":"a\u00e9\n","stream":"stdout","time":"2026-03-05T02:47:11Z"})"s,
           R"({"MESSAGE":[1,2],"_HOSTNAME":"n","__REALTIME_TIMESTAMP":"1"})"s,
           R"({"dmesg":[{"pri":4,"time":  1.000000,"msg":"x"}]})"s,
           "<4>1 2026-03-05T02:47:11.123456+00:00 n kernel - - [a b=\"c\"] msg"s,
           "<4>Mar  5 02:47:11 n kernel: [    1.000000] [   T1] message repeated 3 times: [ x]"s,
           "Thu 2026-03-05 02:47:11 UTC n kernel: msg"s,
           "kern  :warn  : [Thu Mar  5 02:47:11 2026 <    0.000123>] msg"s,
           "4,20931,8423118204,-,caller=T4127;a\\x0ab"s,
           "Mon Jan 13 10:11:12 2020[1,5]<stdout>:[3] node7:1:2 [0] NCCL INFO x"s,
           "\x1b[36m(W pid=1, ip=1.2.3.4)\x1b[0m x [repeated 7x across cluster]"s,
           "[pod/a/b] worker-0: > RANK3: Node 0: node7:1:2 [0] NCCL INFO x"s,
           "__REALTIME_TIMESTAMP=1"s,
           "Panic#1 Part2"s,
       }) {
    for (std::size_t size = 0; size <= line.size(); ++size) {
      unwrap_all({line.substr(0, size), kNccl});
      unwrap_all({line.substr(size)});
    }
  }
}

}  // namespace
}  // namespace faultline
