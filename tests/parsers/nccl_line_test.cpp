#include "parsers/nccl/nccl_line.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

std::string shown(std::string_view text) {
  std::string out;
  for (const NcclLine& line : nccl_lines(text)) {
    out += "host=" + std::string(line.host) + " pid=" + std::to_string(line.pid) +
           " dev=" + std::to_string(line.device) +
           " level=" + std::to_string(static_cast<int>(line.level));
    if (!line.timestamp.empty()) out += " at=" + std::string(line.timestamp);
    if (!line.place.empty()) out += " place=" + std::string(line.place);
    if (!line.function.empty()) out += " in=" + std::string(line.function);
    out += " msg=" + std::string(line.message) + ";";
  }
  return out;
}

TEST(NcclLine, ReadsTheFrameOfEveryVersion) {
  struct Case {
    const char* why;
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"INFO", "node1:615:18953 [2] NCCL INFO hello",
       "host=node1 pid=615 dev=2 level=1 msg=hello;"},
      {"WARN names a place", "n-1_a:6:7 [0] misc/socket.cc:49 NCCL WARN Connect failed",
       "host=n-1_a pid=6 dev=0 level=2 place=misc/socket.cc:49 msg=Connect failed;"},
      {"2.26 puts its own time first",
       "[2025-04-06 22:31:56] node1:6:7 [0] transport/net_ib.cc:12 NCCL WARN x",
       "host=node1 pid=6 dev=0 level=2 at=2025-04-06 22:31:56 place=transport/net_ib.cc:12 msg=x;"},
      {"2.30 names the function", "node1:6:7 [0] init.cc:9 (ncclInit) NCCL WARN x",
       "host=node1 pid=6 dev=0 level=2 place=init.cc:9 in=ncclInit msg=x;"},
      {"a plugin's whole signature",
       "node1:6:7 [0] int f(char*, std::vector<int>[3]):196 NCCL WARN x",
       "host=node1 pid=6 dev=0 level=2 place=int f(char*, std::vector<int>[3]):196 msg=x;"},
      {"CALL prints no device", "node1:6:7 NCCL CALL ncclGroupStart()",
       "host=node1 pid=6 dev=-1 level=4 msg=ncclGroupStart();"},
      {"TRACE with milliseconds", "node1:6:7 [3] 12.345678 f:10 NCCL TRACE x",
       "host=node1 pid=6 dev=3 level=3 place=12.345678 f:10 msg=x;"},
      {"old RCCL prints a number after the device", "node1:6:7 [1] 1558545003174220 NCCL INFO x",
       "host=node1 pid=6 dev=1 level=1 at=1558545003174220 msg=x;"},
      {"ABORT has no message", "node1:6:7 [1] init.cc:3 NCCL ABORT",
       "host=node1 pid=6 dev=1 level=5 place=init.cc:3 msg=;"},
      {"2.32 asks for attention", "node1:6:7 [1] misc/crypt.cc:3 (accept) NCCL ATTN x",
       "host=node1 pid=6 dev=1 level=1 place=misc/crypt.cc:3 in=accept msg=x;"},
      {"host and pid were cut off", "[3] include/shm.h:28 NCCL WARN x",
       "host= pid=0 dev=3 level=2 place=include/shm.h:28 msg=x;"},
      {"all but the place was cut off", "misc/socket.cc:484 NCCL WARN x",
       "host= pid=0 dev=-1 level=2 place=misc/socket.cc:484 msg=x;"},
      {"no colon between host and pid", "ubuntu1583:1585 [0] init.cc:738 NCCL WARN x",
       "host= pid=0 dev=0 level=2 place=init.cc:738 msg=x;"},
      {"everything was cut off", "NCCL INFO x", "host= pid=0 dev=-1 level=1 msg=x;"},
      {"a launcher's prefix that sticks to the host", "[1,5]<stdout>:node1:6:7 [2] NCCL INFO x",
       "host=node1 pid=6 dev=2 level=1 msg=x;"},
      {"a launcher's prefix before a blank", "[0] node1:6:7 [2] NCCL INFO x",
       "host=node1 pid=6 dev=2 level=1 msg=x;"},
      {"a progress bar on the same line", "Epoch 3:  43%|####   | node1:6:7 [2] NCCL INFO x",
       "host=node1 pid=6 dev=2 level=1 msg=x;"},
      {"the bare version line", "NCCL version 2.21.5+cuda12.4",
       "host= pid=0 dev=-1 level=0 msg=NCCL version 2.21.5+cuda12.4;"},
      {"the bare version line in 2.26", "[2025-04-06 22:31:56] NCCL version 2.26.2+cuda12.8",
       "host= pid=0 dev=-1 level=0 at=2025-04-06 22:31:56 msg=NCCL version 2.26.2+cuda12.8;"},
      {"an exception's word about the version",
       "RuntimeError: NCCL error in: a.cpp:9, unhandled cuda error, NCCL version 2.20.5", ""},
      {"what ncclras says first", "NCCL version 2.28.7 compiled with CUDA 12.9", ""},
      {"no NCCL line", "nothing of NCCL here", ""},
      {"a word that ends like it", "my.NCCL INFO x", ""},
      {"a level that there is not", "node1:6:7 [2] NCCL INFORMATION x", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(shown(c.text), c.expected);
  }
}

TEST(NcclLine, PartsLinesThatProcessesWroteIntoEachOther) {
  EXPECT_EQ(shown("node1:6:7 [0] NCCL INFO first node2:8:9 [1] NCCL INFO second"),
            "host=node1 pid=6 dev=0 level=1 msg=first ;host=node2 pid=8 dev=1 level=1 msg=second;");
  EXPECT_EQ(shown("node1:6:7 [0] NCCL INFO it said NCCL WARN boo"),
            "host=node1 pid=6 dev=0 level=1 msg=it said NCCL WARN boo;")
      << "a message may quote another";
  EXPECT_EQ(
      shown("node1:6:7 [0] NCCL INFO rings 0 1node2:8:9 [1] NCCL INFO second"),
      "host=node1 pid=6 dev=0 level=1 msg=rings 0 ;host=1node2 pid=8 dev=1 level=1 msg=second;")
      << "where the name begins cannot be told here; whoever knows the processes can";
}

TEST(NcclLine, AFrameStandsNearItsLevel) {
  EXPECT_EQ(shown("node1:6:7 [0] " + std::string(10'000, 'x') + " NCCL INFO hello"),
            "host= pid=0 dev=-1 level=1 msg=hello;");
  std::string levels;
  for (int i = 0; i < 40'000; ++i) levels += "NCCL INFO ";
  EXPECT_EQ(nccl_lines(levels).size(), 1U);
  EXPECT_EQ(nccl_lines(levels + "node1:6:7 [0] NCCL INFO hello").size(), 2U);
}

TEST(NcclLine, TheLastCellOfATableStandsInFrontOfAHost) {
  for (const auto& [row, host] : {
           std::pair("     8388608       2097152     float     sum      -1", "mew0"),
           std::pair("    83.33  100.66  100.66      0", "mew0"),
           std::pair("    83.33  100.66  100.66    12", "mew0"),
           std::pair("    83.33  100.66  100.66    N/A", "mew0"),
           std::pair("    83.33  100.66  100.66      0", "mew-0.cluster"),
       }) {
    const std::string text =
        std::string(row) + host + ":64904:64921 [1] NCCL INFO Using network IB";
    const auto lines = nccl_lines(text);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].host, host) << row;
    EXPECT_EQ(lines[0].pid, 64904);
  }
  // The digits at the beginning of a host name belong to it.
  for (const char* text :
       {"0mew0:64904:64921 [1] NCCL INFO x", "3: 0mew0:64904:64921 [1] NCCL INFO x",
        "worker 1 of 2  0mew0:64904:64921 [1] NCCL INFO x",
        "  1 2 0mew0:64904:64921 [1] NCCL INFO x"}) {
    const auto lines = nccl_lines(text);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].host, "0mew0") << text;
  }
}

TEST(NcclLine, KnowsAWordAboutALineFromTheLine) {
  const char* const quoted[] = {
      "the worker said \"node1:6:7 [0] NCCL INFO Using network IB\"",
      "b'node1:6:7 [0] NCCL INFO Using network IB'",
      "set NCCL_DEBUG and look for NCCL INFO Using network IB",
  };
  for (const char* text : quoted) {
    ASSERT_EQ(nccl_lines(text).size(), 1U) << text;
    EXPECT_TRUE(nccl_lines(text)[0].quoted) << text;
  }
  const char* const said[] = {"node1:6:7 [0] NCCL INFO x", "NCCL INFO x", "> NCCL INFO x",
                              "Epoch 3: 43%|##   | node1:6:7 [0] NCCL INFO x",
                              "misc/socket.cc:484 NCCL WARN x"};
  for (const char* text : said) EXPECT_FALSE(nccl_lines(text).at(0).quoted) << text;
}

TEST(NcclLine, KnowsWhenItWasPrinted) {
  const auto time = [](const char* text) {
    const auto at = time_of(nccl_lines(text).at(0));
    return at ? to_rfc3339(*at) : "";
  };
  EXPECT_EQ(time("[2025-04-06 22:31:56.5] n:6:7 [0] NCCL INFO x"), "2025-04-06T22:31:56.500Z");
  EXPECT_EQ(time("n:6:7 [1] 1558545003174220 NCCL INFO x"), "2019-05-22T17:10:03.174220Z");
  EXPECT_EQ(time("n:6:7 [1] NCCL INFO x"), "");
}

TEST(NcclLine, ReadsPlainInfoTheQuickWayAndLeavesTheRest) {
  NcclLine line;
  ASSERT_TRUE(read_plain_info("node1:615:18953 [2] NCCL INFO hello", line));
  EXPECT_EQ(line.host, "node1");
  EXPECT_EQ(line.pid, 615);
  EXPECT_EQ(line.tid, 18953);
  EXPECT_EQ(line.device, 2);
  EXPECT_EQ(line.message, "hello");
  const char* const left[] = {"",
                              "3: node1:615:18953 [2] NCCL INFO hello",
                              "[1,5]<stdout>:node1:615:18953 [2] NCCL INFO hello",
                              "node1:615:18953 [2] init.cc:1 NCCL WARN hello",
                              "2024-05-01T12:34:56.7Z node1:615:18953 [2] NCCL INFO hello",
                              "\"node1:615:18953 [2] NCCL INFO hello",
                              "node1:615:18953 NCCL CALL hello"};
  for (const char* text : left) EXPECT_FALSE(read_plain_info(text, line)) << text;
}

}  // namespace
}  // namespace faultline
