#include "http/multipart.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace faultline {
namespace {

using NamedParts = std::vector<std::pair<std::string, std::string>>;

class PartCollector : public PartVisitor {
 public:
  void open_part(std::string_view filename) override { parts.emplace_back(filename, ""); }
  void part_bytes(std::string_view piece) override { parts.back().second += piece; }
  void close_part() override { ++closed; }

  NamedParts parts;
  std::size_t closed = 0;
};

struct Outcome {
  NamedParts parts;
  std::size_t closed = 0;
  std::string error;
};

Outcome parse(std::string_view body, std::size_t piece_size) {
  PartCollector collector;
  MultipartParser parser("BB", collector);
  Outcome outcome;
  for (std::size_t at = 0; at < body.size() && outcome.error.empty(); at += piece_size)
    if (const auto fed = parser.feed(body.substr(at, piece_size)); !fed)
      outcome.error = fed.error().message;
  if (outcome.error.empty())
    if (const auto finished = parser.finish(); !finished) outcome.error = finished.error().message;
  outcome.parts = collector.parts;
  outcome.closed = collector.closed;
  return outcome;
}

constexpr std::string_view kTwoFiles =
    "--BB\r\n"
    "Content-Disposition: form-data; name=\"file\"; filename=\"nccl.0.log\"\r\n"
    "Content-Type: application/octet-stream\r\n\r\n"
    "one\r\n--B not a boundary\r\n-\r\n"
    "\r\n--BB\r\n"
    "content-disposition: form-data; name=\"file\"; filename=\"a \\\"quoted\\\" name\"\r\n\r\n"
    "\r\n--BB\r\n"
    "Content-Disposition: form-data; name=dmesg\r\n\r\n"
    "two"
    "\r\n--BB--\r\nepilogue";

TEST(MultipartParser, GivesTheSamePartsHoweverTheBytesArrive) {
  const NamedParts expected{{"nccl.0.log", "one\r\n--B not a boundary\r\n-\r\n"},
                            {"a \"quoted\" name", ""},
                            {"dmesg", "two"}};
  for (std::size_t piece = 1; piece <= kTwoFiles.size(); ++piece) {
    SCOPED_TRACE(piece);
    const Outcome outcome = parse(kTwoFiles, piece);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.parts, expected);
    EXPECT_EQ(outcome.closed, 3U);
  }
}

TEST(MultipartParser, NamesWhatIsWrong) {
  struct Case {
    const char* why;
    std::string body;
    const char* error;
  };
  const Case cases[] = {
      {"cut off in a part", "--BB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhalf",
       "the multipart/form-data body is malformed: it ends before its closing boundary"},
      {"no boundary at all", "just text",
       "the multipart/form-data body is malformed: it ends before its closing boundary"},
      {"a part without a name", "--BB\r\nContent-Type: text/plain\r\n\r\nx\r\n--BB--",
       "the multipart/form-data body is malformed: a part has no Content-Disposition that names "
       "it"},
      {"a part without headers", "--BB\r\n\r\nx\r\n--BB--",
       "the multipart/form-data body is malformed: a part has no Content-Disposition that names "
       "it"},
      {"text after a boundary", "--BBB\r\n\r\n",
       "the multipart/form-data body is malformed: text follows a boundary on its line"},
      {"headers without end", "--BB\r\nX: " + std::string(20000, 'x'),
       "the multipart/form-data body is malformed: a part's headers are longer than 16 KiB"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(parse(c.body, 7).error, c.error);
  }
}

TEST(MultipartParser, KeepsWhatCameOfAPartThatBreaksOff) {
  const Outcome outcome =
      parse("--BB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhalf a li", 5);
  EXPECT_EQ(outcome.parts, (NamedParts{{"a", "half a li"}}));
  EXPECT_EQ(outcome.closed, 1U);
}

TEST(MultipartBoundary, IsReadFromTheContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=xyz"), "xyz");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=utf-8; boundary=\"a b\""), "a b");
  EXPECT_EQ(multipart_boundary("multipart/form-data"), std::nullopt);
  EXPECT_EQ(multipart_boundary("application/x-www-form-urlencoded; boundary=x"), std::nullopt);
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=" + std::string(71, 'x')),
            std::nullopt);
}

}  // namespace
}  // namespace faultline
