// How `faultline serve` reads its settings, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;

struct Said {
  int exit = -1;
  std::string text;  // stdout and stderr
};

Said serve(const Workshop& workshop, const std::string& flags) {
  Said said;
  said.text = output_of("cd '" + workshop.folder().string() +
                            "' && timeout 20 " FAULTLINE_BINARY " serve " + flags + " 2>&1",
                        &said.exit);
  return said;
}

TEST(Serve, RefusesSettingsItCannotUseWithOneLine) {
  struct Case {
    const char* why;
    const char* config;
    const char* flags;
    const char* says;
  };
  const Case cases[] = {
      {"unknown key", "colour = \"red\"\n", "--config c.toml",
       "c.toml: unknown key \"colour\"; the keys are listen, "},
      {"a key in a table", "[http]\nlisten = \"127.0.0.1:0\"\n", "--config c.toml",
       "c.toml: unknown key \"http.listen\""},
      {"bad value", "listen = \"here\"\n", "--config c.toml",
       "c.toml: bad value for \"listen\": must be ADDRESS:PORT"},
      {"no number", "max-connections = \"many\"\n", "--config c.toml",
       "c.toml: bad value for \"max-connections\": "},
      {"bad duration", "body-idle-timeout = \"soon\"\n", "--config c.toml",
       "c.toml: bad value for \"body-idle-timeout\": must be a duration such as 90s, 5m or 1h"},
      {"no such file", "", "--config absent.toml", "absent.toml: cannot be read"},
      {"others can reach it", "", "--listen 0.0.0.0:0", "or --insecure if the network is trusted"},
      {"others can read along", "", "--listen 0.0.0.0:0 --tokens c.toml",
       "use --tls-cert and --tls-key, or --insecure"},
      {"half of TLS", "", "--listen 127.0.0.1:0 --tls-key c.toml",
       "TLS needs both --tls-cert and --tls-key"},
      {"no certificate", "", "--listen 127.0.0.1:0 --tls-cert c.toml --tls-key c.toml",
       "--tls-cert c.toml: no start line; name a PEM file"},
      {"broken catalog folder", "", "--listen 127.0.0.1:0 --rules absent", "absent"},
      {"data that is no folder", "", "--listen 127.0.0.1:0 --data c.toml",
       "data c.toml: cannot be made"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Workshop workshop;
    workshop.write("c.toml", c.config);
    const Said said = serve(workshop, c.flags);
    EXPECT_EQ(said.exit, 2);
    EXPECT_THAT(said.text, HasSubstr(c.says));
    EXPECT_EQ(std::count(said.text.begin(), said.text.end(), '\n'), 1) << said.text;
  }
}

TEST(Serve, ChecksItsSettingsAndTheFilesThatTheyName) {
  Workshop workshop;
  workshop.write("good.toml", "listen = \"127.0.0.1:0\"\ntokens = \"tokens\"\n");
  workshop.write("tokens", "a read sha256:" + std::string(64, 'a') + "\n");
  const Said good = serve(workshop, "--config good.toml --check-config");
  EXPECT_EQ(good.exit, 0) << good.text;
  EXPECT_THAT(good.text, HasSubstr("the settings are good: 0 receivers, "));
  EXPECT_FALSE(std::filesystem::exists(workshop.folder() / "faultline-data"));
  workshop.write("tokens", "a write sha256:12\n");
  const Said tokens = serve(workshop, "--config good.toml --check-config");
  EXPECT_EQ(tokens.exit, 2);
  EXPECT_THAT(tokens.text, HasSubstr("tokens: line 1: "));
  workshop.write("rules/mine.yaml", "- id: full\n");
  EXPECT_EQ(serve(workshop, "--rules rules --check-config").exit, 2);
  EXPECT_EQ(serve(workshop, "--listen 0.0.0.0:0 --check-config").exit, 2);
  EXPECT_EQ(serve(workshop, "--tls-key tokens --check-config").exit, 2);
}

TEST(Serve, PrintsTheSettingsInForceAsAFileItCanRead) {
  Workshop workshop;
  workshop.write("c.toml", "job = \"llama\"\nmax-connections = 7\ninsecure = true\n");
  const Said first = serve(workshop, "--config c.toml --max-connections 9 --print-config");
  EXPECT_EQ(first.exit, 0);
  EXPECT_THAT(first.text, HasSubstr("job = \"llama\"\n"));
  EXPECT_THAT(first.text, HasSubstr("max-connections = \"9\"\n"));
  EXPECT_THAT(first.text, HasSubstr("insecure = true\n"));
  EXPECT_THAT(first.text, HasSubstr("listen = \"127.0.0.1:8686\"\n"));
  workshop.write("d.toml", first.text);
  EXPECT_EQ(serve(workshop, "--config d.toml --print-config").text, first.text);
  workshop.write("e.toml",
                 "alertmanager = [\"http://127.0.0.1:9093\", \"http://127.0.0.1:9094\"]\n"
                 "[[receiver]]\nname = \"a\"\ntype = \"command\"\ncommand = [\"sh\", \"-c\", "
                 "\"\\\"x\\\"\"]\n");
  const Said tables = serve(workshop, "--config e.toml --print-config");
  EXPECT_THAT(tables.text, HasSubstr("[[receiver]]\ncommand = [\"sh\", \"-c\", "));
  workshop.write("f.toml", tables.text);
  EXPECT_EQ(serve(workshop, "--config f.toml --print-config").text, tables.text);
}

TEST(Serve, TakesLogsForItsDefaultJob) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--job", "llama"});
  await_ready(server);
  EXPECT_EQ(curl(server, "/api/v1/ingest", "-d hello").json().at("job").as_string(), "llama");
  EXPECT_EQ(curl(server, "/api/v1/sources").status, 200);
}

TEST(Serve, RefusesADataFolderThatIsInUse) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const Said second = serve(workshop, "--listen 127.0.0.1:0 --data data");
  EXPECT_EQ(second.exit, 2);
  EXPECT_THAT(second.text, HasSubstr("in use"));
}

}  // namespace
}  // namespace faultline
