// A server that asks who they are, asked by the real curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "curl.h"
#include "http/tokens.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLine =
    "--data-binary '2026-03-05T02:47:10Z gpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has "
    "fallen off the bus.'";

struct Asked : testing::Test {
  NewToken shipper = new_token("shipper", {Scope::ingest});
  NewToken reader = new_token("reader", {Scope::read});
  NewToken doctor = new_token("doctor", {Scope::operate});
  NewToken boss = new_token("boss", {Scope::admin});
  NewToken team = new_token("team", {Scope::ingest, Scope::read});
  NewToken past = new_token("past", {Scope::admin});

  void SetUp() override {
    team.token.jobs = "llama-";
    past.token.until = parse_rfc3339("2020-01-01T00:00:00Z");
    write({shipper, reader, doctor, boss, team, past});
    server.emplace(workshop.folder(),
                   std::vector<std::string>{"--tokens", (workshop.folder() / "tokens").string()});
    await_ready(*server);
  }

  void write(const std::vector<NewToken>& tokens) {
    std::string text;
    for (const NewToken& token : tokens) text += line_of(token.token) + "\n";
    workshop.write("tokens", text);
  }

  int status(const std::string& path, const NewToken& token, const std::string& flags = "") {
    return curl(*server, path, "-H 'Authorization: Bearer " + token.secret + "' " + flags).status;
  }

  Workshop workshop;
  std::optional<ServerProcess> server;
};

using Access = Asked;

TEST_F(Access, WithoutATokenOnlyHealthIsTold) {
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(curl(*server, path).status, 200);
  for (const char* path : {"/api/v1/jobs", "/api/v1/findings", "/api/v1/hosts", "/metrics",
                           "/openapi.json", "/api/v1/rules", "/api/v1/findings/stream"}) {
    SCOPED_TRACE(path);
    const Reply reply = curl(*server, path, "-D -");
    EXPECT_EQ(reply.status, 401);
    EXPECT_THAT(reply.body, HasSubstr("HTTP/1.1 401 Unauthorized"));
    EXPECT_THAT(reply.body, HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_THAT(reply.body, HasSubstr("this needs a token"));
  }
  EXPECT_EQ(curl(*server, "/api/v1/ingest?job=j", kLine).status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs/j", "-X DELETE").status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-H 'Authorization: Bearer flt_00'").status, 401);
  EXPECT_EQ(status("/api/v1/jobs", past), 401);
}

TEST_F(Access, AScopeIsGoodForWhatItSays) {
  EXPECT_EQ(status("/api/v1/ingest?job=j&source=s", shipper, kLine), 200);
  EXPECT_EQ(status("/api/v1/sources?job=j", shipper), 200);
  EXPECT_EQ(status("/api/v1/jobs/j/diagnosis", shipper), 403);
  EXPECT_EQ(status("/api/v1/jobs/j/diagnosis", reader), 200);
  EXPECT_EQ(status("/metrics", reader), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=j&source=s", reader, kLine), 403);
  EXPECT_EQ(status("/api/v1/jobs/j", reader, "-X DELETE"), 403);
  EXPECT_EQ(status("/api/v1/findings/none/review?verdict=wrong", reader, "-X POST"), 403);
  EXPECT_EQ(status("/api/v1/findings/none/review?verdict=wrong", doctor, "-X POST"), 404);
  EXPECT_EQ(status("/api/v1/jobs/j", doctor, "-X DELETE"), 403);
  EXPECT_EQ(status("/api/v1/jobs/j/diagnosis", boss), 200);
  EXPECT_EQ(status("/api/v1/jobs/j", boss, "-X DELETE"), 204);
}

TEST_F(Access, ATokenForSomeJobsOpensNoOther) {
  EXPECT_EQ(status("/api/v1/ingest?job=llama-7&source=s", team, kLine), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=mistral&source=s", team, kLine), 403);
  EXPECT_EQ(status("/api/v1/ingest?source=s", team, kLine), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7/diagnosis", team), 200);
  EXPECT_EQ(status("/api/v1/jobs/mistral/diagnosis", team), 403);
  EXPECT_EQ(status("/api/v1/jobs/%6cister/diagnosis", team), 403);
  EXPECT_EQ(status("/api/v1/findings?job=llama-7", team), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=mistral&source=s", boss, kLine), 200);
  const auto listed = [&](const NewToken& token) {
    return curl(*server, "/api/v1/jobs", "-H 'Authorization: Bearer " + token.secret + "'").body;
  };
  EXPECT_THAT(listed(team), HasSubstr("llama-7"));
  EXPECT_THAT(listed(team), Not(HasSubstr("mistral")));
  EXPECT_THAT(listed(boss), HasSubstr("mistral"));
  for (const char* path :
       {"/api/v1/findings", "/api/v1/hosts", "/metrics", "/api/v1/hosts?job=llama-7",
        "/api/v1/hosts/gpu-7", "/api/v1/findings?job=mistral", "/api/v1/findings/stream"}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(status(path, team), 403);
  }
}

TEST_F(Access, BasicIsForSendersThatKnowNothingElse) {
  EXPECT_EQ(curl(*server, "/api/v1/ingest?job=j&source=s",
                 std::string("-u any:") + shipper.secret + " " + kLine)
                .status,
            200);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-u any:wrong").status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-H 'Authorization: Basic !!!!'").status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-H 'Authorization: Basic ='").status, 401);
}

TEST_F(Access, ABrowserIsToldOfBasicUnlessAScriptAsksForThePage) {
  const auto answer = [&](const std::string& flags) {
    return curl(*server, "/api/v1/jobs", "-D - " + flags).body;
  };
  EXPECT_THAT(answer(""), HasSubstr("WWW-Authenticate: Basic"));
  for (const std::string authorization : {"", " -H 'Authorization: Bearer flt_00'"}) {
    const std::string said = answer("-H 'X-Requested-With: fetch'" + authorization);
    EXPECT_THAT(said, HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_THAT(said, Not(HasSubstr("Basic")));
  }
}

TEST_F(Access, TheFileIsReadAgainAndABadOneChangesNothing) {
  const NewToken later = new_token("later", {Scope::read});
  EXPECT_EQ(status("/api/v1/jobs", later), 401);
  write({later});
  server->ask_to_reload();
  ASSERT_TRUE(eventually([&] { return status("/api/v1/jobs", later) != 401; }));
  EXPECT_EQ(status("/api/v1/jobs", reader), 401);
  workshop.write("tokens", "later everything\n");
  server->ask_to_reload();
  ASSERT_TRUE(eventually(
      [&] { return server->messages().find("tokens stay as they were") != std::string::npos; }));
  EXPECT_EQ(status("/api/v1/jobs", later), 200);
}

TEST_F(Access, ATokenWithARateIsRefusedBeyondItAndNobodyElseIs) {
  NewToken slow = new_token("slow", {Scope::read});
  slow.token.rate = 1;
  write({slow, reader});
  server->ask_to_reload();
  ASSERT_TRUE(eventually([&] { return status("/api/v1/jobs", slow) != 401; }));
  int good = 1;
  while (good < 30 && status("/api/v1/jobs", slow) == 200) ++good;
  EXPECT_GE(good, 10);  // ten seconds' worth at once
  EXPECT_LT(good, 30);
  const Reply reply =
      curl(*server, "/api/v1/jobs", "-D - -H 'Authorization: Bearer " + slow.secret + "'");
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.body, HasSubstr("429 Too Many Requests"));
  EXPECT_THAT(reply.body, HasSubstr("Retry-After: 1"));
  EXPECT_EQ(status("/api/v1/jobs", reader), 200);
}

TEST_F(Access, RefusalsAndOperatorsActsAreLogged) {
  EXPECT_EQ(status("/api/v1/jobs/j", reader, "-X DELETE"), 403);
  EXPECT_EQ(status("/api/v1/jobs/j", boss, "-X DELETE"), 404);
  const std::string said = server->messages();
  EXPECT_THAT(said, HasSubstr("audit=refused status=403 peer=127.0.0.1 token=reader "
                              "method=DELETE path=/api/v1/jobs/j why=\"this needs"));
  EXPECT_THAT(said, HasSubstr("audit=did peer=127.0.0.1 token=boss method=DELETE"));
  for (const NewToken* token : {&reader, &boss}) EXPECT_THAT(said, Not(HasSubstr(token->secret)));
}

TEST_F(Access, AFloodOfRefusalsIsCounted) {
  for (int i = 0; i < 40; ++i) curl(*server, "/api/v1/jobs");
  const std::string said = server->messages();
  std::size_t lines = 0;
  for (std::size_t at = said.find("audit=refused"); at != std::string::npos;
       at = said.find("audit=refused", at + 1))
    ++lines;
  EXPECT_LT(lines, 40U);
}

TEST(AccessFile, ABadOneStopsTheStartInALine) {
  Workshop workshop;
  workshop.write("tokens", "a everything sha256:00\n");
  int exit = 0;
  const std::string said =
      output_of(std::string(FAULTLINE_BINARY) + " serve --listen 127.0.0.1:0 --data '" +
                    (workshop.folder() / "data").string() + "' --tokens '" +
                    (workshop.folder() / "tokens").string() + "' 2>&1",
                &exit);
  EXPECT_EQ(exit, 2);
  EXPECT_THAT(said, HasSubstr("line 1: \"everything\" is no scope"));
}

}  // namespace
}  // namespace faultline
