#include "ingest/unwrap/container.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

const std::string kNccl = "node7:4242:4243 [0] NCCL INFO AllReduce: opCount 1e";
const std::string kAt = "2026-03-05T02:47:11.123456789Z";
const std::string kWall = "2026-03-05T02:47:11.123456Z";

std::string docker(const std::string& escaped, const std::string& stream = "stdout") {
  return R"({"log":")" + escaped + R"(","stream":")" + stream + R"(","time":")" + kAt + R"("})";
}

TEST(ContainerLogs, GiveTheLineAndItsTime) {
  const Told plain{.text = kNccl, .wall = kWall};
  const UnwrapCase cases[] = {
      {"F16 CRI", kAt + " stdout F " + kNccl, plain},
      {"F16 CRI, errors", kAt + " stderr F " + kNccl, plain},
      {"F16 CRI with more tags", kAt + " stderr F:x " + kNccl, plain},
      {"F16 CRI, an empty line", kAt + " stdout F ", {.text = "", .wall = kWall}},
      {"F16 CRI, an empty line, trimmed", kAt + " stdout F", {.text = "", .wall = kWall}},
      {"F17 docker", docker(kNccl + "\\n"), plain},
      {"F17 docker, carriage return", docker(kNccl + "\\r\\n"), plain},
      {"F17 docker, escapes",
       docker(R"(a\tb \"c\" \\ \u00e9\u003c\n)"),
       {.text = "a\tb \"c\" \\ \xc3\xa9<", .wall = kWall}},
      {"F17 docker, colours", docker("\\u001b[31m" + kNccl + "\\u001b[0m\\n"), plain},
      {"F17 docker, an empty line", docker("\\n"), {.text = "", .wall = kWall}},
      {"F17 docker, attributes",
       R"({"log":"x\n","stream":"stdout","attrs":{"a":"b"},"time":"2026-03-05T02:47:11.7Z"})",
       {.text = "x", .wall = "2026-03-05T02:47:11.700Z+100000"}},
      {"F17 docker, with blanks",
       R"({ "log": "x\n", "stream": "stdout", "time": "2026-03-05T02:47:11Z" })",
       {.text = "x", .wall = "2026-03-05T02:47:11Z+1000000"}},
      {"a cloud's viewer",
       "ERROR " + kAt + " [resource.labels.containerName: trainer] [rank0]: msg",
       {.text = "msg", .rank = 0, .wall = kWall}},
      {"a cloud's viewer, a severity alone",
       "INFO " + kAt + " msg",
       {.text = "msg", .wall = kWall}},
      {"a logger's level",
       "ERROR 2026-03-05 02:47:11 msg",
       {.text = "ERROR 2026-03-05 02:47:11 msg"}},
      {"a shipper has trimmed the line break",
       R"({"log":"x","stream":"stdout","time":"2026-03-05T02:47:11Z","kubernetes":{"host":"n"}})",
       {.text = "x", .wall = "2026-03-05T02:47:11Z+1000000"}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(ContainerLogs, PiecesAreJoinedStreamByStream) {
  EXPECT_EQ(unwrap_all({
                kAt + " stdout P node7:4242:",
                "2026-03-05T02:47:12Z stderr P other",
                "2026-03-05T02:47:12Z stdout P 4243 [0] NCCL",
                "2026-03-05T02:47:13Z stderr F  stream",
                "2026-03-05T02:47:13Z stdout F  INFO AllReduce: opCount 1e",
            }),
            (std::vector<Told>{{.text = "other stream", .wall = "2026-03-05T02:47:12Z+1000000"},
                               {.text = kNccl, .wall = kWall}}));
  EXPECT_EQ(unwrap_all({docker("3: node7:4242:"), docker("err", "stderr"), docker("4243 [0] "),
                        docker("NCCL INFO AllReduce: opCount 1e\\n"), docker("or\\n", "stderr")}),
            (std::vector<Told>{{.text = kNccl, .rank = 3, .wall = kWall},
                               {.text = "error", .wall = kWall}}));
}

TEST(ContainerLogs, AnEscapeBrokenBetweenPiecesIsStillTakenOut) {
  EXPECT_EQ(unwrap_all({docker("a\\u001b[3"), docker("1mb\\r"), docker("\\n")}),
            (std::vector<Told>{{.text = "ab", .wall = kWall}}));
}

TEST(ContainerLogs, UnfinishedPiecesComeAtTheEnd) {
  EXPECT_EQ(unwrap_all({kAt + " stdout P 3: half", docker("a li")}),
            (std::vector<Told>{{.text = "half", .rank = 3, .wall = kWall},
                               {.text = "a li", .wall = kWall}}));
}

TEST(ContainerLogs, PiecesThatNeverEndAreDroppedAndTheNextLineIsWhole) {
  Unwrapper unwrapper(reference_time());
  const std::string piece = kAt + " stdout P " + std::string(100'000, 'x');
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(unwrapper.unwrap(piece).empty());
    EXPECT_LE(unwrapper.save().size(), Pieces::kMaxBytes + 1000);
  }
  EXPECT_TRUE(unwrapper.unwrap(kAt + " stdout F its end").empty());
  EXPECT_EQ(unwrapper.save(), "");
  const std::string next = kAt + " stdout F next";
  const auto messages = unwrapper.unwrap(next);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].text, "next");
}

TEST(ContainerLogs, LeaveAloneWhatIsNoRecord) {
  for (const std::string& line : {
           std::string(R"({"log":"x\n","stream":"stdout","time":"2026-03-)"),
           std::string(R"({"log":"x\n)"),
           std::string(R"({"log":)"),
           std::string(R"({"log":7,"stream":"stdout"})"),
           std::string(R"({"log":"x\n"} and more)"),
           std::string(R"({"level":"info","step":"x"})"),
           std::string(R"({'eval_loss': 0.5})"),
           std::string("{"),
           std::string("{}"),
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
  EXPECT_EQ(unwrap_one(kAt + " stdout X msg"), (Told{.text = "stdout X msg", .wall = kWall}));
  EXPECT_EQ(unwrap_one(kAt + " std"), (Told{.text = "std", .wall = kWall}));
}

}  // namespace
}  // namespace faultline
