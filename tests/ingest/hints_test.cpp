#include "ingest/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "ingest/reader.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;

std::string hint_for(std::string_view body, const BodyCounts& counts,
                     std::size_t piece = std::string::npos) {
  BodyLook look;
  for (std::size_t at = 0; at < body.size(); at += std::min(piece, body.size()))
    look.feed(body.substr(at, piece));
  std::string all;
  for (const Hint& hint : look.hints(counts)) all += hint.text;
  return all;
}

// The hint that the reader gives for the body.
std::string hint_for(const std::string& body) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(body);
  reader.close();
  const Batch batch = reader.take();
  return hint_for(body, {batch.lines, batch.recognized, batch.skipped});
}

const std::string kCall = "n1:1:2 [0] NCCL INFO AllReduce: opCount 1";

TEST(Hints, ThereAreNoneForBodiesThatAreRead) {
  int bodies = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TESTS_DIR "/ingest")) {
    if (!entry.path().filename().string().starts_with("input")) continue;
    SCOPED_TRACE(entry.path());
    EXPECT_EQ(hint_for(read_file(entry.path())), "");
    ++bodies;
  }
  EXPECT_GT(bodies, 50);
  for (const std::string& body : {kCall, kCall + "\n", kCall + "\n" + kCall,
                                  "2026-03-05T02:47:11.1Z stdout F 2026-03-05T02:47:11Z " + kCall,
                                  std::string("<4>1 2026-03-05T02:47:11.1Z n1 kernel - - - [   "
                                              "12.345678] NVRM: Xid (PCI:0000:3b:00): 79, x")}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(hint_for(body, {1, 1, 0}), "");
  }
}

TEST(Hints, AreTheSameHoweverTheBytesCome) {
  std::string stripped;
  for (int i = 0; i < 30; ++i) stripped += "[   12.34567" + std::to_string(i % 10) + "] x " + kCall;
  const std::string whole = hint_for(stripped, {1, 1, 0});
  EXPECT_THAT(whole, HasSubstr("holds 30 log lines"));
  for (std::size_t piece = 1; piece < 60; ++piece)
    EXPECT_EQ(hint_for(stripped, {1, 1, 0}, piece), whole) << piece;
  for (std::size_t piece = 1; piece < 60; ++piece) {
    EXPECT_EQ(hint_for(stripped + "\n", {1, 1, 0}, piece).substr(0, 25), whole.substr(0, 25));
    EXPECT_EQ(hint_for(stripped + "\nx", {2, 1, 0}, piece), "");
  }
}

TEST(Hints, SayWhatIsWrongWithATextAndWhatToDo) {
  struct Case {
    const char* why;
    std::string body;
    BodyCounts counts;
    const char* hint;
  };
  const Case cases[] = {
      {"HTML, in capitals", "\n <HTML>", {1, 0, 0}, "This is an HTML page"},
      {"a name with its @", "log=@/var/log/x.log", {1, 0, 0}, "@/var/log/x.log."},
      {"a word", "hello", {1, 0, 0}, "Not one of 1 lines"},
      {"a web form", "log=a%20b%0Ac%0Ad%3A", {1, 0, 0}, "percent-encoded"},
      {"percents in a text", "5%20 6%30 7%40 8%50", {1, 0, 0}, "Not one of"},
      {"a hash is no base64", std::string(64, 'a') + "\n", {1, 0, 0}, "Not one of"},
      {"records stripped of newlines", R"({"a":"x"}{"a":"x"}{"a":"x"})", {1, 0, 0}, "-d strips"},
      {"a list of texts", R"(["a","b"])", {1, 0, 0}, "no field holds a log line"},
      {"a list too large", R"([{"message":"a"},)", {1, 0, 1}, "jq -c '.[]'"},
      {"most lines too long", "x", {4, 1, 3}, "3 of 4 lines are longer than 1 MiB or binary"},
      {"held already", "hello\n", {0, 0, 0}, ""},
      {"a dump that was refused", "{\"a\":1}\n", {1, 0, 1, true}, ""},
      {"an empty body", "", {0, 0, 0, false, false}, "The body is empty"},
      {"an empty file", "", {0, 0, 0, false, true}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const std::string hint = hint_for(c.body, c.counts);
    EXPECT_THAT(hint, HasSubstr(c.hint));
    EXPECT_EQ(hint.empty(), std::string_view(c.hint).empty());
  }
}

}  // namespace
}  // namespace faultline
