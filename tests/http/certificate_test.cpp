// Certificates of clients that stand for tokens: made by openssl, shown by the real curl to the
// real server.
#include "http/certificate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "certificates.h"
#include "curl.h"
#include "http/access.h"
#include "service/clock.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kXid =
    "--data-binary '2026-03-05T02:47:10Z gpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has "
    "fallen off the bus.'";

struct Certified : testing::Test {
  Certified() {
    certificates.authority("ca");
    certificates.issue("server", "ca");
  }

  // Appends a line of `faultline token` to the file of tokens.
  void add(const std::string& words) {
    const std::string line =
        output_of(fmt::format("{} token {} 2>/dev/null", FAULTLINE_BINARY, words));
    ASSERT_NE(line, "") << words;
    written += line;
    certificates.workshop().write("tokens", written);
  }

  void start() {
    server.emplace(certificates.workshop().folder(),
                   certificates.server_flags({"--tls-client-ca", certificates.path("ca.pem"),
                                              "--tokens", certificates.path("tokens")}));
    for (int i = 0; i < 600 && status("/readyz", "server") != 200; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(status("/readyz", "server"), 200) << server->messages();
  }

  int status(const std::string& path, const std::string& client, const std::string& flags = "") {
    return curl(*server, path, certificates.as(client) + " " + flags).status;
  }

  std::string bearer(const NewToken& token) const {
    return "-H 'Authorization: Bearer " + token.secret + "'";
  }

  std::vector<std::string> names_of(const std::string& client) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen(certificates.path(client + ".pem").c_str(), "r"), std::fclose);
    const std::unique_ptr<X509, void (*)(X509*)> read(
        PEM_read_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
    return read_client_certificate(*read).names;
  }

  Certificates certificates;
  std::string written;
  std::optional<ServerProcess> server;
};

using Certificate = Certified;

TEST_F(Certificate, IsGoodForWhatItsLineInTheFileOfTokensSays) {
  certificates.issue("trainer", "ca");
  certificates.issue("grafana", "ca", {.names = "URI:spiffe://cluster/grafana"});
  certificates.issue("ann", "ca", {.subject = "/O=Cluster/CN=Ann Example"});
  add("trainer --scope ingest,read --jobs llama- --certificate cn:trainer");
  add("grafana --scope read --certificate uri:spiffe://cluster/grafana");
  add("ann --scope admin --certificate cn:Ann%20Example");
  start();
  EXPECT_EQ(status("/api/v1/ingest?job=llama-7&source=s", "trainer", kXid), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=mistral&source=s", "trainer", kXid), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7/diagnosis", "trainer"), 200);
  EXPECT_EQ(status("/api/v1/hosts", "trainer"), 403);
  EXPECT_EQ(status("/api/v1/hosts", "grafana"), 200);
  EXPECT_EQ(status("/api/v1/ingest?job=llama-7&source=s", "grafana", kXid), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7", "grafana", "-X DELETE"), 403);
  EXPECT_EQ(status("/api/v1/jobs/llama-7", "ann", "-X DELETE"), 204);
  EXPECT_THAT(server->messages(),
              HasSubstr("audit=did status=204 peer=127.0.0.1 by=ann method=DELETE"));
  EXPECT_THAT(server->messages(),
              HasSubstr("audit=refused reason=rights status=403 peer=127.0.0.1 by=trainer"));
}

TEST_F(Certificate, LendsNothingToATokenThatIsShown) {
  certificates.issue("boss", "ca");
  NewToken reader = new_token("reader", {Scope::read});
  NewToken past = new_token("past", {Scope::admin});
  past.token.until = parse_rfc3339("2020-01-01T00:00:00Z");
  written = line_of(reader.token) + "\n" + line_of(past.token) + "\n";
  add("boss --scope admin --certificate cn:boss");
  start();
  EXPECT_EQ(status("/api/v1/jobs/none", "boss", "-X DELETE"), 404);
  EXPECT_EQ(status("/api/v1/jobs/none", "boss", "-X DELETE " + bearer(reader)), 403);
  EXPECT_EQ(status("/api/v1/jobs", "boss", bearer(reader)), 200);
  EXPECT_EQ(status("/api/v1/jobs", "boss", bearer(past)), 401);
  for (const char* wrong : {"Bearer flt_00", "Bearer ", "Bearer", "Digest boss", "Basic !!!!"})
    EXPECT_EQ(status("/api/v1/jobs", "boss", fmt::format("-H 'Authorization: {}'", wrong)), 401)
        << wrong;
  EXPECT_EQ(status("/api/v1/jobs", "boss", "-H 'Authorization;'"), 401) << "an empty one";
  // A token needs no certificate that stands for it, too.
  EXPECT_EQ(status("/api/v1/jobs", "server", bearer(reader)), 200);
}

TEST_F(Certificate, IsRefusedWithoutALineAfterItsTimeAndWithTwoLinesAndTheLogSaysSo) {
  certificates.issue("nobody", "ca");
  certificates.issue("former", "ca");
  certificates.issue("twice", "ca", {.names = "DNS:twice.example"});
  add("former --scope read --until 2999-01-01T00:00:00Z --certificate cn:former");
  written.replace(written.find("2999"), 4, "2020");  // no command makes a token that has expired
  add("one --scope read --certificate cn:twice");
  add("other --scope admin --certificate dns:twice.example");
  start();
  for (const auto& [client, refused, why] : {
           std::tuple<std::string, int, std::string>{
               "nobody", 401,
               "peer=127.0.0.1 method=GET path=/api/v1/jobs why=\"this needs a token, or a "
               "certificate "
               "that has a line in the file of tokens; cn:nobody has none"},
           {"former", 401, "by=former method=GET path=/api/v1/jobs why=\"this token was good"},
           {"twice", 403, "this certificate has two lines in the file of tokens, one and other"},
       }) {
    SCOPED_TRACE(client);
    EXPECT_EQ(status("/api/v1/jobs", client), refused);
    EXPECT_THAT(server->messages(), HasSubstr(why));
    EXPECT_EQ(status("/healthz", client), 200);
  }
}

TEST_F(Certificate, IsRefusedOnceItsLineIsGoneAlsoOnAConnectionThatIsOpen) {
  certificates.issue("trainer", "ca");
  add("trainer --scope read --certificate cn:trainer");
  start();
  const std::string ask = "GET /api/v1/jobs HTTP/1.1\\r\\nHost: localhost\\r\\n";
  certificates.workshop().write(
      "asker", fmt::format("printf '{}\\r\\n'; until test -e gone; do sleep 0.02; done; "
                           "printf '{}Connection: close\\r\\n\\r\\n'; until test $(grep -o "
                           "HTTP/1.1 answers | wc -l) = 2; do sleep 0.02; done",
                           ask, ask));
  std::string said;
  std::thread client([&] {
    said =
        output_of(fmt::format("cd '{}' && timeout 60 sh asker | openssl s_client -quiet "
                              "-no_ign_eof -connect 127.0.0.1:{} -CAfile "
                              "ca.pem -cert trainer.pem -key trainer.key 2>/dev/null | tee answers",
                              certificates.workshop().folder().string(), server->port()));
  });
  EXPECT_TRUE(eventually([&] {
    return read_file(certificates.path("answers")).find("HTTP/1.1 200") != std::string::npos;
  }));
  written.clear();
  add("another --scope read --certificate cn:another");
  server->ask_to_reload();
  EXPECT_TRUE(eventually([&] {
    return server->messages().find("msg=\"tokens read again\" tokens=1") != std::string::npos;
  }));
  certificates.workshop().write("gone", "");
  client.join();
  EXPECT_THAT(said, HasSubstr("HTTP/1.1 401 Unauthorized"));
  EXPECT_THAT(server->messages(), HasSubstr("cn:trainer has none"));
}

TEST_F(Certificate, IsRefusedOnceItHasExpiredAlsoOnAConnectionThatIsOpen) {
  certificates.workshop().write("tokens", "trainer read cn:trainer\n");
  const Access access(certificates.path("tokens"), true);
  Request request;
  request.method = "GET";
  request.target = request.path = "/api/v1/jobs";
  const auto found = find_route(request);
  const Route& route = *std::get<const Route*>(found);
  for (const auto& [left, is_admitted] :
       {std::pair{std::chrono::hours(1), true}, {std::chrono::hours(-1), false}}) {
    request.certificate = std::make_shared<const ClientCertificate>(
        ClientCertificate{.names = {"cn:trainer"}, .until = utc_now() + left});
    const Admission admission = access.admit(request, route, "");
    EXPECT_EQ(!admission.refusal, is_admitted);
    if (!is_admitted) {
      EXPECT_THAT(admission.refusal->detail, HasSubstr("was good until"));
    }
  }
}

TEST_F(Certificate, OfAnotherIssuerOpensNothing) {
  certificates.authority("others");
  certificates.issue("trainer", "ca");
  certificates.issue("forged", "others", {.subject = "/CN=trainer"});
  add("trainer --scope read --certificate cn:trainer");
  start();
  EXPECT_EQ(status("/api/v1/jobs", "trainer"), 200);
  EXPECT_NE(curl(*server, "/api/v1/jobs", certificates.as("forged")).exit, 0);
}

TEST_F(Certificate, OfTomorrowOpensNothing) {
  certificates.issue("trainer", "ca");
  certificates.workshop().write("ca.conf",
                                "[ca]\ndefault_ca = c\n[c]\ndatabase = issued\n"
                                "new_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\n"
                                "policy = p\n[p]\ncommonName = supplied\n");
  certificates.make("touch issued");
  certificates.make(
      "openssl ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -in csr "
      "-startdate 20980101000000Z -enddate 20990101000000Z -out tomorrow.pem 2>/dev/null && "
      "cp trainer.key tomorrow.key");
  add("trainer --scope read --certificate cn:trainer");
  start();
  EXPECT_EQ(status("/api/v1/jobs", "trainer"), 200);
  EXPECT_NE(curl(*server, "/api/v1/jobs", certificates.as("tomorrow")).exit, 0);
  const std::string why = "reason=tls peer=127.0.0.1 why=\"certificate is not yet valid\"";
  EXPECT_TRUE(eventually([&] { return server->messages().find(why) != std::string::npos; }))
      << server->messages();
}

TEST_F(Certificate, MayAskAsOftenAsItsLineSays) {
  certificates.issue("slow", "ca");
  certificates.issue("ann", "ca");
  add("slow --scope read --rate 1 --certificate cn:slow");
  add("ann --scope read --certificate cn:ann");
  start();
  int good = 0;
  while (good < 30 && status("/api/v1/jobs", "slow") == 200) ++good;
  EXPECT_GE(good, 10);  // a burst may use ten seconds of the rate
  EXPECT_LT(good, 30);
  EXPECT_EQ(status("/api/v1/jobs", "ann"), 200);
}

TEST_F(Certificate, ThatNobodyIsAskedForIsNoNameOfAToken) {
  add("trainer --scope read --certificate cn:trainer");
  int exit = 0;
  const std::string said = output_of(fmt::format("{} serve --tokens '{}' --check-config 2>&1",
                                                 FAULTLINE_BINARY, certificates.path("tokens")),
                                     &exit);
  EXPECT_EQ(exit, 2);
  EXPECT_THAT(said,
              HasSubstr("trainer names a certificate, but the server does not ask clients for "
                        "certificates; use --tls-client-ca"));
}

TEST_F(Certificate, HasTheNamesThatItsIssuerPutInAndNoneThatCouldBeReadAsAnother) {
  certificates.issue(
      "all", "ca",
      {.subject = "/O=Cluster/CN=Ann Example",
       .names = "DNS:N7.Example,URI:spiffe://a/b,email:ann@example.org,IP:10.0.0.1"});
  EXPECT_THAT(names_of("all"), ElementsAre("cn:Ann Example", "dns:n7.example", "uri:spiffe://a/b",
                                           "email:ann@example.org"));
  certificates.issue("two", "ca", {.subject = "/CN=trainer/CN=boss"});
  EXPECT_THAT(names_of("two"), ElementsAre("dns:localhost")) << "which of the two is it?";
  certificates.issue("none", "ca", {.subject = "/O=Cluster", .names = "IP:10.0.0.1"});
  EXPECT_THAT(names_of("none"), ElementsAre());
  // The name is "admin", NUL, ".evil".
  certificates.issue("nul", "ca",
                     {.subject = "/O=x", .names = "DER:300d820b61646d696e002e6576696c"});
  EXPECT_THAT(names_of("nul"), ElementsAre());
  certificates.issue("evil", "ca", {.subject = "/CN=adminXevil"});
  certificates.make(
      "openssl x509 -in evil.pem -outform DER | LC_ALL=C sed 's/adminXevil/admin\\x00evil/' | "
      "openssl x509 -inform DER -out evil.pem.new && mv evil.pem.new evil.pem");
  EXPECT_THAT(names_of("evil"), ElementsAre("dns:localhost"));
  certificates.issue("broken", "ca", {.subject = "/CN=broken", .names = "DER:30ff"});
  EXPECT_THAT(names_of("broken"), ElementsAre("cn:broken"));
}

}  // namespace
}  // namespace faultline
