// What the guard reads of the answers of a server.
#include "guard/guard_findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fake_receiver.h"

namespace faultline {
namespace {

std::string finding_with(const std::string& last_seen) {
  return R"({"finding":"f1","class":"gpu.off_bus","title":"lost","severity":"critical",)"
         R"("confidence":0.99,"job":"llama","incident":"i1","role":"cause","state":"open",)"
         R"("reason":null,"review":null,"part_of_job":true,"opened":"2026-11-29T08:00:00Z",)"
         R"("resolved":null,"zone_assumed":true,"subject":{"hosts":["node-1"]},"last_seen":)" +
         last_seen + "}";
}

TEST(GuardFindings, TellWhenAFindingWasSeenLast) {
  const auto seen = guard_finding_in(finding_with("\"2026-11-29T07:59:00Z\""));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->last_seen, parse_rfc3339("2026-11-29T07:59:00Z"));
  EXPECT_TRUE(seen->zone_assumed);
  const auto undated = guard_finding_in(finding_with("null"));
  ASSERT_TRUE(undated);
  EXPECT_FALSE(undated->last_seen);
}

TEST(GuardFindings, AnAnswerAboutAnotherFindingIsAnError) {
  FakeReceiver server(
      FakeReceiver::answer("200 OK", "Content-Type: application/json\r\n", finding_with("null")));
  GuardFindings findings({.url = *parse_url(fmt::format("http://127.0.0.1:{}", server.port())),
                          .ca_file = {},
                          .token_file = {}});
  const auto asked = findings.one("f1");
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->has_value());
  const auto other = findings.one("f2");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, testing::HasSubstr("another finding than f2"));
}

}  // namespace
}  // namespace faultline
