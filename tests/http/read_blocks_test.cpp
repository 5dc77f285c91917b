// What agents read of logs, sent to the real server: by honest agents and by others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "curl.h"
#include "ingest/block_bytes.h"
#include "ingest/block_frames.h"
#include "ingest/edge_reader.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;

const Timestamp kNow = *parse_rfc3339("2026-03-10T12:00:00Z");

std::string call_line(int number) {
  return fmt::format(
      "gpu-7:4711:4790 [0] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f0000000000 recvbuff "
      "0x7f0000100000 count 1024 datatype 7 op 0 root 0 comm 0x55aa01 [nranks=2] stream 0x1\n",
      number);
}

std::string call_lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += call_line(i);
  return text;
}

class ReadBlocks : public testing::Test {
 protected:
  void SetUp() override { reader = std::string(where_it_stands("none").at("reader").as_string()); }

  boost::json::object where_it_stands(const std::string& source) const {
    return plain_get(server, "/api/v1/ingest/read?job=llama&source=" + source).json();
  }

  static std::string blocks_of(Cursor& cursor, const std::string& text) {
    return read_at_the_edge(cursor, text, kNow, nullptr).value();
  }

  Reply put(const std::string& query, const std::string& body) {
    workshop.write("body", body);
    return curl(server, "/api/v1/ingest/read?job=llama&" + query,
                "-X PUT --data-binary @" + (workshop.folder() / "body").string());
  }
  Reply put_at(std::uint64_t offset, const std::string& body, const std::string& more = "") {
    return put(fmt::format("source=a.log&offset={}&reader={}{}", offset, reader, more), body);
  }

  std::uint64_t held() const {
    return where_it_stands("a.log").at("offset").to_number<std::uint64_t>();
  }

  Workshop workshop;
  ServerProcess server{workshop.folder()};
  std::string reader;
};

TEST_F(ReadBlocks, AreTakenAsIfTheLinesHadCome) {
  Cursor cursor;
  const std::string text = call_lines(0, 500);
  const Reply reply = put_at(0, blocks_of(cursor, text));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const boost::json::object receipt = reply.json();
  EXPECT_EQ(receipt.at("bytes").to_number<std::size_t>(), text.size()) << "those of the log";
  EXPECT_EQ(receipt.at("lines").to_number<int>(), 500);
  EXPECT_EQ(receipt.at("recognized").to_number<int>(), 500);
  EXPECT_EQ(receipt.at("events").to_number<int>(), 500);
  EXPECT_EQ(receipt.at("dialects").at("nccl").to_number<int>(), 500);
  EXPECT_EQ(receipt.at("next_offset").to_number<std::size_t>(), text.size());
  EXPECT_EQ(receipt.at("duplicate_bytes").to_number<int>(), 0);
  EXPECT_EQ(receipt.at("reader").as_string(), reader);
  const std::string metrics = plain_get(server, "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr(fmt::format("faultline_ingest_bytes_total {}\n", text.size())));
  EXPECT_THAT(metrics, HasSubstr("faultline_ingest_lines_total 500\n"));
}

TEST_F(ReadBlocks, AndLinesFollowEachOther) {
  Cursor cursor;
  const std::string first = call_lines(0, 100) + "gpu-7:4711:4790 [0] NCCL INFO AllRed";
  ASSERT_EQ(put_at(0, blocks_of(cursor, first)).status, 200);
  EXPECT_TRUE(where_it_stands("a.log").at("carry").is_null()) << "a line is not complete";
  const std::string second = call_line(100).substr(36) + call_lines(101, 200);
  workshop.write("lines", second);
  ASSERT_EQ(
      curl(server, fmt::format("/api/v1/ingest?job=llama&source=a.log&offset={}", first.size()),
           "--data-binary @" + (workshop.folder() / "lines").string())
          .status,
      200);
  const boost::json::object stands = where_it_stands("a.log");
  EXPECT_EQ(stands.at("lines").to_number<int>(), 200);
  ASSERT_EQ(stands.at("carry").as_string(), "");
  cursor = {.offset = stands.at("offset").to_number<std::uint64_t>(), .lines = 200, .carry = {}};
  const std::uint64_t at = cursor.offset;
  EXPECT_EQ(put_at(at, blocks_of(cursor, call_lines(200, 300))).status, 200);
  const auto source = plain_get(server, "/api/v1/sources?job=llama").json().at("sources").at(0);
  EXPECT_EQ(source.at("lines").to_number<int>(), 300);
  EXPECT_EQ(source.at("events").to_number<int>(), 300) << "none is lost, none is there twice";
}

TEST_F(ReadBlocks, ThatAreHeldAreSkipped) {
  Cursor cursor;
  const std::string first = blocks_of(cursor, call_lines(0, 100));
  const std::uint64_t middle = cursor.offset;
  const std::string second = blocks_of(cursor, call_lines(100, 200));
  ASSERT_EQ(put_at(0, first).status, 200);
  ASSERT_EQ(put_at(0, first).json().at("duplicate_bytes").to_number<std::uint64_t>(), middle);
  const boost::json::object receipt = put_at(0, first + second).json();
  EXPECT_EQ(receipt.at("duplicate_bytes").to_number<std::uint64_t>(), middle);
  EXPECT_EQ(receipt.at("events").to_number<int>(), 100);
  EXPECT_EQ(held(), cursor.offset);
}

TEST_F(ReadBlocks, ThatDoNotFollowWhatIsHeldAreRefused) {
  Cursor cursor;
  ASSERT_EQ(put_at(0, blocks_of(cursor, call_lines(0, 100))).status, 200);
  const std::uint64_t end = cursor.offset;
  const auto expect = [&](const char* what, const Reply& reply, int status) {
    EXPECT_EQ(reply.status, status) << what << ": " << reply.body;
    EXPECT_EQ(reply.json().at("next_offset").to_number<std::uint64_t>(), end) << what;
    EXPECT_EQ(held(), end) << what;
  };
  Cursor beyond{.offset = end + 10, .lines = 100, .carry = {}};
  expect("a gap", put_at(end + 10, blocks_of(beyond, call_lines(100, 110))), 409);
  Cursor other{.offset = end, .lines = 90, .carry = {}};
  expect("a reader that counted other lines", put_at(end, blocks_of(other, call_lines(100, 110))),
         412);
  Cursor within{.offset = 0, .lines = 0, .carry = {}};
  const std::string across = blocks_of(within, call_lines(0, 10) + call_lines(10, 120));
  ASSERT_GT(within.offset, end);
  const Reply overlapping = put_at(0, across);
  EXPECT_EQ(overlapping.status, 412) << "a block of which a part is held";
  const std::uint64_t now = held();
  // Whoever does not have the lines any more sends what it has.
  const Reply anyhow = put_at(0, across, "&whatever_came_before=true");
  EXPECT_EQ(anyhow.status, 200) << anyhow.body;
  EXPECT_GE(held(), now);
  const auto source = plain_get(server, "/api/v1/sources?job=llama").json().at("sources").at(0);
  EXPECT_EQ(source.at("events").to_number<int>(), 120) << "calls that are held are left out";
}

TEST_F(ReadBlocks, OfAReaderThatHidesOtherSecretsAreRefused) {
  Cursor cursor;
  const std::string body = blocks_of(cursor, call_lines(0, 10));
  std::string other = reader;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& version : {other, std::string("1")})
    EXPECT_EQ(put("source=a.log&offset=0&reader=" + version, body).status, 415) << version;
  EXPECT_EQ(held(), 0U);
  // Batches of other versions are in the database after each update.
  std::string older = reader;
  older.front() = older.front() == '0' ? '1' : '0';
  EXPECT_EQ(put("source=a.log&offset=0&reader=" + older, body).status, 200);
}

TEST_F(ReadBlocks, ThatAreNoneAreRefusedAndTheServerGoesOn) {
  Cursor cursor;
  const std::string good = blocks_of(cursor, call_lines(0, 50));
  const std::uint64_t length = cursor.offset;
  EXPECT_EQ(put_at(0, "").status, 200) << "nothing is no lie";
  EXPECT_EQ(put_at(0, "a line of a log\n").status, 415);
  EXPECT_EQ(put_at(0, framed("")).status, 415);
  EXPECT_EQ(put_at(0, framed(std::string(100'000, '\xff'))).status, 415);
  EXPECT_EQ(put_at(0, "faultline-block 99999999\n").status, 415);
  EXPECT_EQ(put("offset=0&source=&reader=" + reader, good).status, 400);
  EXPECT_EQ(put("source=a.log&reader=" + reader, good).status, 400);
  EXPECT_EQ(put("source=a.log&offset=0", good).status, 400);
  EXPECT_EQ(held(), 0U);
  EXPECT_EQ(put_at(0, good.substr(0, good.size() / 2)).status, 415) << "torn";
  EXPECT_EQ(put_at(0, good + "rest").status, 415);
  EXPECT_TRUE(held() == 0U || held() == length) << held();
  workshop.write("body", good);
  workshop.make("gzip -kf body && touch out");
  EXPECT_EQ(put("source=b.log&offset=0&reader=" + reader, read_file(workshop.folder() / "body.gz"))
                .status,
            200)
      << "packed like any body";
  EXPECT_EQ(plain_get(server, "/healthz").status, 200);
}

// Of few bytes, so that its sender pays nothing for it.
TEST_F(ReadBlocks, ThatTellOfMoreThanSoFewBytesMayAreRefused) {
  Cursor cursor;
  const std::string line = "gpu-7:4711:4790 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n";
  const auto frames = blocks_of(cursor, line + call_lines(0, 5000));
  BlockFrames cutter;
  ReadBlock block;
  ASSERT_TRUE(cutter.feed(frames, [&](std::string_view bytes) -> Result<void> {
    block = read_block(bytes)->block;
    return {};
  }));
  Event event;
  event.fact = HostBooted{};
  event.text = std::string(4000, 'x');
  block.batch.runs.clear();
  block.batch.events.clear();
  block.batch.speakers = {Speaker{}};
  for (std::uint32_t i = 0; i < 1500; ++i) {
    event.order = i;
    block.batch.events.push_back(event);
  }
  const std::string flood = framed(write_block(block, Cursor{}));
  workshop.write("flood", flood);
  workshop.make("zstd -q -f -19 flood -o flood.zst && touch out");
  const Reply reply =
      curl(server, "/api/v1/ingest/read?job=llama&source=a.log&offset=0&reader=" + reader,
           "-X PUT -H 'Content-Encoding: zstd' --data-binary @" +
               (workshop.folder() / "flood.zst").string());
  EXPECT_EQ(reply.status, 413) << reply.body;
  EXPECT_EQ(held(), 0U);
}

}  // namespace
}  // namespace faultline
