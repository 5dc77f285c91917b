#include "http/message.h"

#include <gtest/gtest.h>

#include "http/origin.h"
#include "http/problem.h"

namespace faultline {
namespace {

TEST(BestOffer, FollowsTheAcceptHeader) {
  struct Case {
    const char* why;
    const char* accept;
    const char* expected;
  };
  const Case cases[] = {
      {"no header", "", "application/json"},
      {"anything", "*/*", "application/json"},
      {"text", "text/plain", "text/plain"},
      {"any text", "text/*", "text/plain"},
      {"in any case", "Text/Plain; charset=utf-8", "text/plain"},
      {"weights", "application/json;q=0.5, text/plain;q=0.9", "text/plain"},
      {"the exact range counts, not the broad one", "*/*;q=0.1, application/json;q=0, text/plain",
       "text/plain"},
      {"a browser", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json"},
      {"none of ours", "image/png", ""},
      {"refused", "application/json;q=0", ""},
      {"garbage", ";;,=,q=", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(best_offer(c.accept, {"application/json", "text/plain"}), c.expected);
  }
}

TEST(Problem, IsAProblemJsonWithItsStatusAndWhatToDo) {
  const Response response = problem_response(Problem{.status = 409,
                                                     .detail = "send from there",
                                                     .next_offset = 4096,
                                                     .retry_after_seconds = 5,
                                                     .headers = {{"Allow", "GET"}}});
  EXPECT_EQ(response.status, 409U);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"about:blank","title":"Conflict","status":409,"detail":"send from there",)"
            R"("next_offset":4096})"
            "\n");
  const Headers expected{{"Allow", "GET"}, {"Retry-After", "5"}};
  EXPECT_EQ(response.headers, expected);
}

TEST(Problem, TakesItsStatusFromTheKindOfError) {
  EXPECT_EQ(problem_from({Error::Kind::invalid_input, ""}).status, 400U);
  EXPECT_EQ(problem_from({Error::Kind::not_found, ""}).status, 404U);
  EXPECT_EQ(problem_from({Error::Kind::conflict, ""}).status, 409U);
  EXPECT_EQ(problem_from({Error::Kind::too_large, ""}).status, 413U);
}

TEST(CrossesOrigins, IsTrueForPagesOfOthersOnly) {
  struct Case {
    const char* why;
    Headers headers;
    bool crosses;
    bool encrypted = false;
  };
  const Case cases[] = {
      {"curl", {{"Host", "127.0.0.1:8686"}}, false},
      {"our own page", {{"Host", "h:8686"}, {"Origin", "http://h:8686"}}, false},
      {"our own page over TLS", {{"Host", "h:8686"}, {"Origin", "https://h:8686"}}, false, true},
      {"a page of our name without TLS", {{"Host", "h"}, {"Origin", "http://h"}}, true, true},
      {"a proxy speaks TLS for us", {{"Host", "h"}, {"Origin", "https://h"}}, false},
      {"another page", {{"Host", "h:8686"}, {"Origin", "https://evil.example"}}, true},
      {"another port", {{"Host", "h:8686"}, {"Origin", "http://h:8000"}}, true},
      {"a page that hides", {{"Host", "h:8686"}, {"Origin", "null"}}, true},
      {"told by the browser", {{"Host", "h"}, {"sec-fetch-site", "cross-site"}}, true},
      {"typed by hand", {{"Host", "h"}, {"Sec-Fetch-Site", "none"}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Request request;
    request.headers = c.headers;
    request.encrypted = c.encrypted;
    EXPECT_EQ(crosses_origins(request), c.crosses);
  }
}

}  // namespace
}  // namespace faultline
