// Profiler traces sent to the endpoint of logs: they are read as they arrive, one after another,
// and a body that only looks like a trace is read as what it is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "ingest/reader.h"
#include "told.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::string trace(int rank, int kernels = 3) {
  std::string text = fmt::format(
      "{{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, "
      "\"world_size\": 8}},\n  \"traceEvents\": [\n",
      rank);
  for (int i = 0; i < kernels; ++i)
    text += fmt::format(
        "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": "
        "7,\n"
        "    \"ts\": {}.000, \"dur\": 10.000\n  }}{}\n",
        i * 20, i + 1 < kernels ? "," : "");
  return text + "  ],\n  \"traceName\": \"t.json\"\n}\n";
}

Batch read(std::string_view text, std::size_t piece = 1 << 20) {
  Reader reader(Cursor{}, Timestamp{});
  for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
  reader.close();
  return reader.take();
}

std::vector<std::string> ranks_in(const Batch& batch) {
  std::vector<std::string> ranks;
  for (const Event& event : batch.events)
    if (const auto* report = std::get_if<PartReport>(&event.fact))
      ranks.push_back(report->names.front().value);
  return ranks;
}

TEST(TraceBody, ManyTracesFollowEachOther) {
  constexpr std::uint64_t kMany = 20'000;
  std::string text;
  for (std::uint64_t i = 0; i < kMany; ++i) text += R"({"traceEvents":[]})";
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{65'536}}) {
    const Batch batch = read(text, piece);
    EXPECT_EQ(batch.lines, kMany);
    EXPECT_EQ(batch.to_offset, text.size());
  }
}

TEST(TraceBody, CountsAsOneLine) {
  const Batch batch = read(trace(3));
  EXPECT_THAT(ranks_in(batch), ElementsAre("3"));
  EXPECT_THAT(batch.dialects, ElementsAre(Pair("torch-profiler", 1)));
  EXPECT_EQ(batch.events[0].line, 1u);
  EXPECT_EQ(batch.events[0].text,
            "trace of rank 3 of 0.000 s: computing 60.0 %, exposed communication 0.0 %, "
            "copies 0.0 %, idle 40.0 %");
  EXPECT_EQ(batch.to_offset, trace(3).size());
}

TEST(TraceBody, OneAsTorchWritesItTellsWhoseItIsAndWhatItDid) {
  std::ifstream file(TESTS_DIR "/ingest/traces/input_torch_2_8.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Batch batch = read(text, 100);
  ASSERT_THAT(batch.events, SizeIs(1));
  EXPECT_EQ(to_rfc3339(batch.events[0].time.wall().value()), "2026-03-05T01:46:45.012345Z");
  const auto& report = std::get<PartReport>(batch.events[0].fact);
  EXPECT_THAT(report.names, ElementsAre(NamedValue{"rank", "3"}, NamedValue{"device", "0"},
                                        NamedValue{"gpu", "NVIDIA H100 80GB HBM3"},
                                        NamedValue{"world size", "8"}));
  EXPECT_THAT(report.values, Contains(NamedValue{"exposed communication us", "656.777"}));
  EXPECT_THAT(report.values, Contains(NamedValue{"step 12 / collective us", "812.400"}));
}

TEST(TraceBody, SeveralFollowEachOtherHoweverTheyAreCut) {
  const std::string text = trace(0) + trace(1) + "\n" + trace(2);
  const std::string whole = told(read(text));
  EXPECT_THAT(ranks_in(read(text)), ElementsAre("0", "1", "2"));
  for (std::size_t piece = 1; piece < 200; ++piece) ASSERT_EQ(told(read(text, piece)), whole);
}

TEST(TraceBody, IsNotCommittedBeforeItIsComplete) {
  const std::string text = trace(3, 500);
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(std::string_view(text).substr(0, text.size() / 2));
  EXPECT_EQ(reader.pending_bytes(), 0u);
  EXPECT_THAT(reader.take().events, IsEmpty());
  const Cursor cursor = reader.cursor();
  EXPECT_EQ(cursor.offset, 0u);
  EXPECT_THAT(cursor.carry, IsEmpty());
  Reader again(cursor, Timestamp{});
  again.feed(text);
  EXPECT_THAT(ranks_in(again.take()), ElementsAre("3"));
}

TEST(TraceBody, TheRestOfOneThatBreaksOffMakesItWholeOverARestart) {
  const std::string text = trace(3, 500);
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(std::string_view(text).substr(0, text.size() / 2));
  reader.finish();
  const Batch batch = reader.take();
  EXPECT_THAT(batch.events, IsEmpty());
  EXPECT_EQ(batch.end, SourceEnd::torn);
  EXPECT_THAT(ranks_in(reader.rest()), ElementsAre("3")) << "as it stands";
  const Cursor cursor = reader.cursor();
  EXPECT_EQ(cursor.offset, text.size() / 2);
  Reader again(cursor, Timestamp{});
  again.feed(std::string_view(text).substr(text.size() / 2));
  again.close();
  EXPECT_EQ(told(again.take()), told(read(text)));
}

TEST(TraceBody, JsonThatOnlyBeginsLikeOneIsReadAsLines) {
  const Batch batch = read("{\"schemaVersion\": 2, \"mediaType\": \"x\"}\nsecond\nthird\n", 3);
  EXPECT_THAT(batch.events, IsEmpty());
  EXPECT_EQ(batch.lines, 3u);
}

TEST(TraceBody, AnEmptyLineAboveALogIsStillALine) {
  const Batch batch = read("\n\ngpu-7:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>\n");
  EXPECT_EQ(batch.lines, 3u);
}

}  // namespace
}  // namespace faultline
