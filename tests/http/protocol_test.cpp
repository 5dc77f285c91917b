// HTTP itself, written by hand to a socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Protocol : public testing::Test {
 protected:
  Workshop workshop;
  ServerProcess server{workshop.folder()};
};

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

TEST_F(Protocol, AnswersPipelinedRequestsInOrder) {
  RawClient client(server.port());
  client.say(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
      "6\r\n\r\nhello\n"
      "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.hear(), HasSubstr(R"({"status":"ok"})"));
  EXPECT_THAT(client.hear(), HasSubstr(R"("bytes":6)"));
  EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  const std::string last = client.hear();
  EXPECT_THAT(last, HasSubstr(R"("job":"j")"));
  EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.hears_the_end());
}

TEST_F(Protocol, ReadsARequestThatArrivesByteByByte) {
  RawClient client(server.port());
  for (const char c :
       std::string("PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"
                   "3;x=y\r\nab\n\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\n"))
    client.say({&c, 1});
  EXPECT_THAT(client.hear(), HasSubstr(R"("bytes":4,"lines":2)"));

  // A body with only the last chunk; each byte in a packet of its own.
  RawClient empty(server.port());
  empty.say(
      "PUT /api/v1/ingest?job=j&source=t HTTP/1.1\r\nHost: localhost\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  for (const char c : std::string("0\r\n\r\n")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    empty.say({&c, 1});
  }
  EXPECT_THAT(empty.hear(), HasSubstr(R"("bytes":0,"lines":0)"));
}

TEST_F(Protocol, InvitesABodyOnlyAfterTheRequestWasAccepted) {
  RawClient good(server.port());
  good.say(
      "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(good.hear(), "HTTP/1.1 100 Continue\r\n\r\n");
  good.say("hi\n");
  EXPECT_THAT(good.hear(), StartsWith("HTTP/1.1 200 OK\r\n"));

  RawClient bad(server.port());
  bad.say(
      "PUT /api/v1/ingest?job=j&sauce=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
      "Expect: 100-continue\r\n\r\n");
  const std::string refusal = bad.hear();
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(refusal, HasSubstr("sauce"));
  EXPECT_THAT(refusal, HasSubstr("Connection: close\r\n"));

  RawClient gap(server.port());
  gap.say(
      "PUT /api/v1/ingest?job=j&source=s&offset=1000 HTTP/1.1\r\nHost: "
      "localhost\r\nContent-Length: 3\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_THAT(gap.hear(), StartsWith("HTTP/1.1 409 Conflict\r\n"));

  RawClient odd(server.port());
  odd.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n");
  EXPECT_THAT(odd.hear(), StartsWith("HTTP/1.1 417 Expectation Failed\r\n"));
}

TEST_F(Protocol, GivesHeadTheHeadOfGet) {
  RawClient client(server.port());
  client.say("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string get = client.hear();
  client.say(
      "HEAD /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "
      "localhost\r\n\r\n");
  const std::string head = client.hear_head();
  const auto without_date = [](std::string text) {
    const std::size_t at = text.find("Date: ");
    return text.erase(at, text.find("\r\n", at) - at);
  };
  EXPECT_EQ(without_date(head), without_date(get.substr(0, get.find("\r\n\r\n") + 4)));
  EXPECT_THAT(client.hear(), HasSubstr(R"({"status":"ok"})")) << "no body may follow HEAD's answer";
}

TEST_F(Protocol, RefusesWhatIsNoHttp) {
  struct Case {
    const char* why;
    std::string said;
    const char* status;
  };
  const Case cases[] = {
      {"noise", "\x16\x03\x01\x02\r\n\r\n", "HTTP/1.1 400"},
      {"no host", "GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {"two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400"},
      {"two who ask",
       "GET /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n"
       "authorization: Bearer y\r\n\r\n",
       "HTTP/1.1 400"},
      {"another version", "GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", "HTTP/1.1 505"},
      {"unknown method", "BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 501"},
      {"known method in vain", "DELETE /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
       "HTTP/1.1 405"},
      {"a target too long",
       "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 414"},
      {"a target without end", "GET /" + std::string(40000, 'a'), "HTTP/1.1 414"},
      {"headers too long",
       "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(40000, 'a') + "\r\n\r\n",
       "HTTP/1.1 431"},
      {"two lengths",
       "PUT /api/v1/ingest?job=j HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
       "Content-Length: 2\r\n\r\nab",
       "HTTP/1.1 400"},
      {"length and chunks",
       "PUT /api/v1/ingest?job=j HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "HTTP/1.1 400"},
      {"another transfer encoding",
       "PUT /api/v1/ingest?job=j HTTP/1.1\r\nHost: localhost\r\n"
       "Transfer-Encoding: gzip\r\n\r\n",
       "HTTP/1.1 501"},
      {"a chunk without size",
       "PUT /api/v1/ingest?job=j&source=x HTTP/1.1\r\nHost: localhost\r\n"
       "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
       "HTTP/1.1 400"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    RawClient client(server.port());
    client.say(c.said);
    const std::string answer = client.hear();
    EXPECT_THAT(answer, StartsWith(c.status));
    EXPECT_THAT(answer, HasSubstr("application/problem+json"));
  }
  EXPECT_EQ(plain_get(server, "/healthz").status, 200);
}

TEST_F(Protocol, TakesAWholeUrlForItsPathAndItsHost) {
  const auto answer = [&](const std::string& url, const std::string& host) {
    RawClient client(server.port());
    client.say("GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.hear();
  };
  EXPECT_THAT(answer("http://localhost:1/healthz", "elsewhere"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer("HTTPS://127.0.0.1/healthz", "elsewhere"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer("http://localhost?q=x", "localhost"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer("http://elsewhere/healthz", "localhost"), StartsWith("HTTP/1.1 421"));
  EXPECT_THAT(answer("http:///healthz", "localhost"), StartsWith("HTTP/1.1 400"));
  RawClient old(server.port());
  old.say("GET http://elsewhere/healthz HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.hear(), HasSubstr(" 421 "));
}

TEST_F(Protocol, SpeaksHttp10) {
  RawClient once(server.port());
  once.say("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_THAT(once.hear(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(once.hears_the_end());

  RawClient again(server.port());
  for (int i = 0; i < 2; ++i) {
    again.say("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(again.hear(), HasSubstr("Connection: keep-alive\r\n"));
  }
}

TEST_F(Protocol, LetsAClientReadTheAnswerThoughItIsStillSending) {
  RawClient client(server.port());
  client.say(
      "PUT /api/v1/ingest?colour=red HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
      "8000000\r\n\r\n");
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 7; ++i) client.say(megabyte);
  EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
}

TEST_F(Protocol, RefusesToTakeDataOnBehalfOfAForeignPage) {
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=j", "-H 'Origin: https://evil.example' -d x").status,
            403);
  const std::string own = "-H 'Origin: " + server.url("") + "' -d x";
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=j&source=s", own).status, 200);
  EXPECT_EQ(curl(server, "/api/v1/jobs", "-H 'Origin: https://evil.example'").status, 200);
}

TEST_F(Protocol, LetsNoForeignPageShowAnAnswer) {
  for (const char* path : {"/", "/web/app.js", "/web/none", "/api/v1/jobs", "/api/v1/jobs/none",
                           "/metrics", "/healthz"}) {
    SCOPED_TRACE(path);
    const std::string head = curl(server, path, "-I").body;
    const std::size_t found = head.find("Cross-Origin-Resource-Policy: same-origin\r\n");
    ASSERT_NE(found, std::string::npos) << head;
    EXPECT_EQ(head.find("Cross-Origin-Resource-Policy", found + 1), std::string::npos) << "twice";
  }
  RawClient stream(server.port());
  stream.say("GET /api/v1/findings/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(stream.hear_until("\r\n\r\n"),
              HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"));
}

TEST_F(Protocol, TellsOptionsWhatIsAllowed) {
  RawClient client(server.port());
  client.say("OPTIONS /api/v1/ingest HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = client.hear();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 204 No Content\r\n"));
  EXPECT_THAT(answer, HasSubstr("Allow: POST, PUT, OPTIONS\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
  EXPECT_EQ(body_of(answer), "");
}

TEST(ConnectionLimit, AnswersThoseBeyondItWith503) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--max-connections", "2"});
  RawClient one(server.port());
  RawClient two(server.port());
  for (RawClient* client : {&one, &two}) {
    client->say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client->hear(), StartsWith("HTTP/1.1 200"));
  }
  RawClient three(server.port());
  const std::string refusal = three.hear();
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(refusal, HasSubstr("Retry-After: 5\r\n"));
}

TEST(BodyIdleTimeout, EndsAnUploadThatSaysNothingAndKeepsItsLines) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--body-idle-timeout", "1s"});
  RawClient client(server.port());
  client.say(
      "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
      "100\r\n\r\none\ntwo");
  const std::string answer = client.hear();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_THAT(answer, HasSubstr(R"("next_offset":4)"));
}

}  // namespace
}  // namespace faultline
