// A server that asks for tokens, asked by the real curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "curl.h"
#include "http/router.h"
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

using AccessOfTokens = Asked;

TEST_F(AccessOfTokens, WithoutATokenOnlyHealthIsTold) {
  for (const char* path : {"/healthz", "/readyz"}) EXPECT_EQ(plain_get(*server, path).status, 200);
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

TEST_F(AccessOfTokens, AScopeIsGoodForWhatItSays) {
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

TEST_F(AccessOfTokens, ACommandThatAnAnswerPrintsWorksWithTheReadersToken) {
  ASSERT_EQ(status("/api/v1/ingest?job=j&source=s&final=true", shipper, kLine), 200);
  const std::string answer = curl(*server, "/api/v1/jobs/j/diagnosis?format=text",
                                  "-H 'Authorization: Bearer " + reader.secret + "'")
                                 .body;
  constexpr std::string_view kBefore = "to acknowledge it: ";
  const std::size_t at = answer.find(kBefore);
  ASSERT_NE(at, std::string::npos) << answer;
  const std::string command =
      answer.substr(at + kBefore.size(), answer.find('\n', at) - at - kBefore.size());
  const auto said = [&](const std::string& before) {
    return output_of("(" + before + command + " -s -o /dev/null -w '%{http_code}') 2>&1");
  };
  EXPECT_EQ(said("export FAULTLINE_TOKEN=" + doctor.secret + "; "), "200");
  EXPECT_EQ(said("export FAULTLINE_TOKEN=" + reader.secret + "; "), "403");
  EXPECT_THAT(said("unset FAULTLINE_TOKEN; "), HasSubstr("a token of this server"));
}

// Asks all routes. A token without a scope that the route accepts gets no answer.
TEST_F(AccessOfTokens, OfEveryRouteWhoeverLacksItsScopeIsRefused) {
  const auto asked = [](const Route& route) {
    std::string path;
    for (std::size_t at = 0; at < route.pattern.size(); ++at) {
      if (route.pattern[at] == '{')
        at = route.pattern.find('}', at), path += 'j';
      else
        path += route.pattern[at];
    }
    return path;
  };
  const std::vector<std::pair<const NewToken*, Scope>> all{{&shipper, Scope::ingest},
                                                           {&reader, Scope::read},
                                                           {&doctor, Scope::operate},
                                                           {&boss, Scope::admin}};
  std::size_t refused = 0;
  for (const Route& route : routes()) {
    if (route.method == "GET" && route.pattern.ends_with("/stream")) continue;  // it does not end
    const std::string path = asked(route);
    SCOPED_TRACE(std::string(route.method) + " " + path);
    const bool anybody =
        !route.needs.any_of({Scope::ingest, Scope::read, Scope::operate, Scope::admin});
    EXPECT_EQ(plain_request(*server, route.method, path).status == 401, !anybody);
    for (const auto& [token, scope] : all) {
      const bool may = anybody || route.needs.any_of(Scopes{scope}.with_implied());
      const int answered = plain_request(*server, route.method, path, token->secret).status;
      EXPECT_EQ(answered == 403, !may) << token->token.name << " got " << answered;
      refused += answered == 403 ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 20U);
}

TEST_F(AccessOfTokens, ATokenForSomeJobsOpensNoOther) {
  EXPECT_EQ(status("/api/v1/ingest?job=llama-7&source=s", team, kLine), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=mistral&source=s", team, kLine), 403);
  EXPECT_EQ(status("/api/v1/ingest?source=s", team, kLine), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7/diagnosis", team), 200);
  EXPECT_EQ(status("/api/v1/jobs/mistral/diagnosis", team), 403);
  EXPECT_EQ(status("/api/v1/jobs/%6cister/diagnosis", team), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7/communicators/any/operations", team), 404);
  EXPECT_EQ(status("/api/v1/jobs/mistral/communicators/any/operations", team), 403);
  EXPECT_EQ(status("/api/v1/findings?job=llama-7", team), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=mistral&source=s", boss, kLine), 200);
  const auto listed = [&](const NewToken& token) {
    return curl(*server, "/api/v1/jobs", "-H 'Authorization: Bearer " + token.secret + "'").body;
  };
  EXPECT_THAT(listed(team), HasSubstr("llama-7"));
  EXPECT_THAT(listed(team), Not(HasSubstr("mistral")));
  EXPECT_THAT(listed(boss), HasSubstr("mistral"));
  for (const char* path :
       {"/api/v1/hosts", "/metrics", "/api/v1/hosts?job=llama-7", "/api/v1/hosts/gpu-7",
        "/api/v1/findings?job=mistral", "/api/v1/findings/stream?job=mistral"}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(status(path, team), 403);
  }
}

struct AccessToFindings : Asked {
  NewToken medic = new_token("medic", {Scope::operate, Scope::read});

  // One fault in a job of the team, and faults in jobs of others.
  void SetUp() override {
    Asked::SetUp();
    medic.token.jobs = "llama-";
    write({boss, medic});
    server->ask_to_reload();
    ASSERT_TRUE(eventually([&] { return status("/api/v1/jobs", medic) == 200; }));
    for (const char* job : {"mistral", "llama-7", "mistral-2"})
      EXPECT_EQ(status("/api/v1/ingest?final=true&source=s&job=" + std::string(job), boss, kLine),
                200);
  }

  Reply ask(const std::string& path, const NewToken& token, const std::string& flags = "") {
    return curl(*server, path, "-H 'Authorization: Bearer " + token.secret + "' " + flags);
  }
  std::string id_of(const std::string& job) {
    const auto found = ask("/api/v1/findings?job=" + job, boss).json();
    EXPECT_FALSE(found.at("findings").as_array().empty()) << job;
    return std::string(found.at("findings").at(0).at("finding").as_string());
  }
};

TEST_F(AccessToFindings, ATokenForSomeJobsListsTheirsAlone) {
  for (const char* limit : {"1", "1000"}) {
    const auto all = ask("/api/v1/findings?limit=" + std::string(limit), medic).json();
    ASSERT_FALSE(all.at("findings").as_array().empty());
    for (const auto& finding : all.at("findings").as_array())
      EXPECT_EQ(finding.at("job"), "llama-7");
    // The changes of other jobs are skipped once, not again and again.
    EXPECT_EQ(ask("/api/v1/findings?since=" + std::string(all.at("resume").as_string()), medic)
                  .json()
                  .at("findings")
                  .as_array()
                  .size(),
              0U);
  }
  const std::string streamed = ask("/api/v1/findings/stream?after=0", medic, "--max-time 2").body;
  EXPECT_THAT(streamed, HasSubstr("llama-7"));
  EXPECT_THAT(streamed, Not(HasSubstr("mistral")));
}

TEST_F(AccessToFindings, ATokenForSomeJobsReviewsTheirsAndKnowsNoOthers) {
  const std::string own = "/api/v1/findings/" + id_of("llama-7");
  const std::string foreign = "/api/v1/findings/" + id_of("mistral");
  EXPECT_EQ(ask(own, medic).json().at("job"), "llama-7");
  const Reply reviewed = ask(own + "/review?verdict=acknowledged", medic, "-X POST");
  EXPECT_EQ(reviewed.json().at("review"), "acknowledged");
  EXPECT_EQ(ask(own, medic).json().at("reviews").at(0).at("by"), "medic")
      << "nobody else was named";
  EXPECT_THAT(server->messages(),
              HasSubstr("audit=did status=200 peer=127.0.0.1 by=medic method=POST path=" + own +
                        "/review what=acknowledged\n"));

  const auto without_id = [](Reply reply, const std::string& path) {
    const std::string id = path.substr(path.rfind('/') + 1);
    reply.body.replace(reply.body.find(id), id.size(), "ID");
    return std::to_string(reply.status) + reply.body;
  };
  EXPECT_EQ(without_id(ask(foreign, medic), foreign),
            without_id(ask("/api/v1/findings/fnone", medic), "/fnone"));
  EXPECT_EQ(ask(foreign + "/review?verdict=wrong", medic, "-X POST").status, 404);
  EXPECT_EQ(ask(foreign, boss).json().at("state"), "open") << "it was not reviewed either";
}

TEST_F(AccessOfTokens, BasicIsForSendersThatKnowNothingElse) {
  EXPECT_EQ(curl(*server, "/api/v1/ingest?job=j&source=s",
                 std::string("-u any:") + shipper.secret + " " + kLine)
                .status,
            200);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-u any:wrong").status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-H 'Authorization: Basic !!!!'").status, 401);
  EXPECT_EQ(curl(*server, "/api/v1/jobs", "-H 'Authorization: Basic ='").status, 401);
}

TEST_F(AccessOfTokens, ABrowserIsToldOfBasicUnlessAScriptAsksForThePage) {
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

TEST_F(AccessOfTokens, TheFileIsReadAgainAndABadOneChangesNothing) {
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

TEST_F(AccessOfTokens, ATokenWithARateIsRefusedBeyondItAndNobodyElseIs) {
  NewToken slow = new_token("slow", {Scope::read});
  slow.token.rate = 1;
  write({slow, reader});
  server->ask_to_reload();
  ASSERT_TRUE(eventually([&] { return status("/api/v1/jobs", slow) != 401; }));
  int good = 1;
  while (good < 30 && status("/api/v1/jobs", slow) == 200) ++good;
  EXPECT_GE(good, 10);  // a burst may use ten seconds of the rate
  EXPECT_LT(good, 30);
  const Reply reply =
      curl(*server, "/api/v1/jobs", "-D - -H 'Authorization: Bearer " + slow.secret + "'");
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.body, HasSubstr("429 Too Many Requests"));
  EXPECT_THAT(reply.body, HasSubstr("Retry-After: 1"));
  EXPECT_EQ(status("/api/v1/jobs", reader), 200);
}

TEST_F(AccessOfTokens, RefusalsAndOperatorsActsAreLogged) {
  EXPECT_EQ(status("/api/v1/jobs/j", reader, "-X DELETE"), 403);
  EXPECT_EQ(status("/api/v1/jobs/j", boss, "-X DELETE"), 404);
  const std::string said = server->messages();
  EXPECT_THAT(said, HasSubstr("audit=refused reason=rights status=403 peer=127.0.0.1 by=reader "
                              "method=DELETE path=/api/v1/jobs/j why=\"this needs"));
  EXPECT_THAT(said, HasSubstr("audit=did status=404 peer=127.0.0.1 by=boss method=DELETE "
                              "path=/api/v1/jobs/j\n"))
      << "it is no act that there was such a job";
  for (const NewToken* token : {&reader, &boss}) EXPECT_THAT(said, Not(HasSubstr(token->secret)));
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
