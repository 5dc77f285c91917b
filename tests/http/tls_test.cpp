// TLS, with the real server, curl and certificates that openssl makes.
#include "http/tls.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "certificates.h"
#include "curl.h"
#include "held_blocks.h"
#include "raw_client.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

class Tls : public testing::Test {
 protected:
  Tls() {
    authority("ca");
    issue("server", "ca", 30);
  }

  void authority(const std::string& name) { certificates_.authority(name); }
  void issue(const std::string& name, const std::string& by, int days) {
    certificates_.issue(name, by, {.days = days});
  }
  void make(const std::string& command) { certificates_.make(command); }
  std::string path(const std::string& file) const { return certificates_.path(file); }
  std::vector<std::string> flags(const std::vector<std::string>& more = {}) const {
    return certificates_.server_flags(more);
  }
  std::string as(const std::string& client = "", const std::string& trusted = "ca") const {
    return certificates_.as(client, trusted);
  }

  // Waits until the server has printed the message.
  static void await_message(const ServerProcess& server, const std::string& text) {
    for (int i = 0; i < 2000 && server.messages().find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_THAT(server.messages(), HasSubstr(text));
  }

  Certificates certificates_;
  Workshop& workshop_ = certificates_.workshop();
};

TEST_F(Tls, LogsAndAnswersTravelEncryptedAndAreTheSame) {
  ServerProcess server(workshop_.folder(), flags({"--stall-after", "0s"}));
  EXPECT_NE(curl(server, "/healthz").exit, 0) << "curl trusts nobody that it is not told to";
  EXPECT_EQ(curl(server, "/healthz", as()).status, 200);

  // More bytes than all buffers on the way hold.
  std::string log;
  for (int i = 0; i < 200000; ++i)
    log += fmt::format("node-7:4242:4250 [3] NCCL INFO a line of many, number {}\n", i);
  log += "node-7:4242:4250 [3] NCCL WARN Cuda failure 'an illegal memory access was encountered'\n";
  workshop_.write("rank3.log", log);
  const Reply sent =
      curl(server, "/api/v1/ingest?job=llama&source=rank3.log", as() + " -T " + path("rank3.log"));
  ASSERT_EQ(sent.status, 200) << sent.body;
  EXPECT_EQ(sent.json().at("lines").as_int64(), 200001);
  const Reply zipped =
      curl(server, "/api/v1/ingest?job=llama&source=zipped.log",
           as() + " -H 'Content-Encoding: gzip' -T -", "gzip -c " + path("rank3.log") + " |");
  EXPECT_EQ(zipped.status, 200) << zipped.body;
  EXPECT_EQ(curl(server, "/api/v1/jobs/llama/diagnosis", as()).json().at("verdict"), "failed");
  EXPECT_THAT(curl(server, "/metrics", as()).body,
              HasSubstr("faultline_tls_certificate_expires_timestamp_seconds"));

  const std::string both = output_of(
      fmt::format("curl -sS {} {} {}", as(), server.url("/healthz"), server.url("/readyz")));
  EXPECT_THAT(both, HasSubstr("ok")) << "one connection carries several requests";
}

TEST_F(Tls, WhoeverSpeaksWithoutItIsToldSo) {
  ServerProcess server(workshop_.folder(), flags());
  const std::string said =
      output_of(fmt::format("curl -sS --max-time 20 http://127.0.0.1:{}/healthz", server.port()));
  EXPECT_EQ(said, "this port speaks TLS: begin with https\n");
  await_message(server, "audit=refused reason=tls peer=127.0.0.1 why=\"http request\"");
  EXPECT_EQ(curl(server, "/healthz", as()).status, 200);
}

TEST_F(Tls, OnlyWhoShowsACertificateOfTheRightIssuerMayAsk) {
  authority("others");
  issue("trainer", "ca", 30);
  issue("late", "ca", -1);
  issue("stranger", "others", 30);
  ServerProcess server(workshop_.folder(), flags({"--tls-client-ca", path("ca.pem")}));
  EXPECT_EQ(curl(server, "/healthz", as("trainer")).status, 200);
  for (const auto& [client, why] : {
           std::pair<std::string, std::string>{"", "peer did not return a certificate"},
           {"late", "certificate has expired"},
           {"stranger", "unable to get local issuer certificate"},
       }) {
    SCOPED_TRACE(client);
    const Reply refused = curl(server, "/api/v1/jobs", as(client));
    EXPECT_NE(refused.exit, 0);
    EXPECT_EQ(refused.status, 0);
    await_message(server, fmt::format("reason=tls peer=127.0.0.1 why=\"{}\"", why));
  }
  EXPECT_THAT(curl(server, "/metrics", as("trainer")).body,
              HasSubstr("faultline_tls_refused_total 3"));
}

TEST_F(Tls, AnExpiredCertificateIsToldOfBeforeTheStartAndAtIt) {
  issue("server", "ca", -1);
  int exit = -1;
  const std::string said = output_of(
      fmt::format(FAULTLINE_BINARY " serve --check-config --tls-cert {} --tls-key {} 2>&1",
                  path("server.pem"), path("server.key")),
      &exit);
  EXPECT_EQ(exit, 2);
  EXPECT_THAT(said, HasSubstr("server.pem: it expired at 20"));
  const ServerProcess server(workshop_.folder(), flags());
  await_message(server, "the certificate of --tls-cert has expired");
}

TEST_F(Tls, AClientThatComesAgainBeginsAnewAndIsLetIn) {
  issue("trainer", "ca", 30);
  ServerProcess server(workshop_.folder(), flags({"--tls-client-ca", path("ca.pem")}));
  const std::string said = output_of(
      fmt::format("timeout 60 openssl s_client -tls1_2 -reconnect -connect 127.0.0.1:{} -CAfile {} "
                  "-cert {} -key {} 2>&1 </dev/null | grep -E 'TLSv1.2, Cipher is|error'",
                  server.port(), path("ca.pem"), path("trainer.pem"), path("trainer.key")));
  std::istringstream lines(said);
  int connections = 0;
  for (std::string line; std::getline(lines, line); ++connections)
    EXPECT_THAT(line, testing::StartsWith("New, TLSv1.2"));
  EXPECT_EQ(connections, 6) << said;
}

TEST_F(Tls, ARenewedCertificateIsTakenWhileItRunsAndABrokenOneIsNot) {
  ServerProcess server(workshop_.folder(), flags());
  EXPECT_EQ(curl(server, "/healthz", as()).status, 200);

  make("cp server.pem was.pem && echo nothing > server.pem");
  server.ask_to_reload();
  await_message(server, "msg=\"the certificate stays as it was\" why=\"--tls-cert");
  EXPECT_EQ(curl(server, "/healthz", as()).status, 200);

  authority("next");
  issue("server", "next", 3);
  server.ask_to_reload();
  await_message(server, "certificate read again");
  await_message(server, "renew it, then send SIGHUP");
  EXPECT_NE(curl(server, "/healthz", as()).exit, 0);
  EXPECT_EQ(curl(server, "/healthz", as("", "next")).status, 200);
}

TEST_F(Tls, WhoeverStallsInItsHandshakeHoldsNobodyUp) {
  ServerProcess server(workshop_.folder(), flags({"--max-connections", "64"}));
  std::vector<std::unique_ptr<RawClient>> stalled;
  for (int i = 0; i < 40; ++i) {
    stalled.push_back(std::make_unique<RawClient>(server.port()));
    stalled.back()->say(std::string_view("\x16\x03\x01\x02", 4));  // the beginning of a record
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(curl(server, "/healthz", as()).status, 200);
}

TEST_F(Tls, ATokenIsAskedForBehindIt) {
  workshop_.make(std::string(FAULTLINE_BINARY) +
                 " token grafana --scope read > out; cp out tokens");
  ServerProcess server(workshop_.folder(), flags({"--tokens", path("tokens")}));
  EXPECT_EQ(curl(server, "/api/v1/jobs", as()).status, 401);
}

// Whatever bytes come, in pieces: the channel fails or asks for more, and returns no bytes.
TEST_F(Tls, BytesThatAreNoneOfItsOwnAreRefused) {
  const TlsKeys keys(
      {.certificate = path("server.pem"), .key = path("server.key"), .client_ca = {}});
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4096, '\0'), std::string(4096, '\xff'),
        std::string("\x16\x03\x01\xff\xff") + std::string(70000, 'x'),
        std::string("\x15\x03\x03\x00\x02\x02\x28", 7)}) {
    const std::unique_ptr<TlsChannel> channel = keys.channel();
    std::vector<char> into(1024);
    TlsChannel::State state = TlsChannel::State::wants_bytes;
    for (std::size_t at = 0; at < bytes.size() && state == TlsChannel::State::wants_bytes;
         at += 37) {
      std::size_t read = 0;
      channel->feed(std::span(bytes).subspan(at, std::min<std::size_t>(37, bytes.size() - at)));
      state = channel->read(into, read);
      EXPECT_EQ(read, 0);
    }
    EXPECT_EQ(state, TlsChannel::State::failed);
    EXPECT_FALSE(channel->failure().empty());
    EXPECT_FALSE(channel->write("an answer"));
  }
}

}  // namespace
}  // namespace faultline
