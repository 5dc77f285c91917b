// How `faultline serve` reads its settings, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl.h"
#include "eventually.h"
#include "fake_receiver.h"
#include "server_process.h"
#include "workshop.h"

#include <optional>
#include <thread>

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
       "c.toml: line 1: unknown key \"colour\"; the keys are listen, "},
      {"a key with a slip of the pen", "# mine\n\nlistne = \"127.0.0.1:0\"\n", "--config c.toml",
       "c.toml: line 3: unknown key \"listne\"; did you mean \"listen\"?"},
      {"a key in a table", "[http]\nlisten = \"127.0.0.1:0\"\n", "--config c.toml",
       "c.toml: line 1: unknown table \"http\"; settings are in no table"},
      {"a table with a slip of the pen", "job = \"a\"\n[[reciever]]\nname = \"x\"\n",
       "--config c.toml", "c.toml: line 2: unknown table \"reciever\"; did you mean [[receiver]]?"},
      {"a keeping of no jobs", "[[keep]]\nage = \"7d\"\n", "--config c.toml",
       "c.toml: line 1: keep 1: jobs is missing; name the jobs"},
      {"a keeping for no time", "[[keep]]\njobs = \"a-*\"\n", "--config c.toml",
       "c.toml: line 1: keep \"a-*\": age is missing; say how long the jobs are kept"},
      {"a keeping of no size", "[[keep]]\njobs = \"a-*\"\nlines = \"many\"\n", "--config c.toml",
       "c.toml: line 3: keep \"a-*\": lines must be a size with a unit, such as \"16MB\""},
      {"a keeping without a unit", "[[keep]]\njobs = \"a-*\"\nage = 90\n", "--config c.toml",
       "c.toml: line 3: keep \"a-*\": age must be a duration with a unit: 90s"},
      {"a flag that is no setting", "check-config = true\n", "--config c.toml",
       "c.toml: line 1: \"check-config\" is not a setting; give it on the command line"},
      {"the same key twice", "listen = \"a\"\njob = \"b\"\nlisten = \"c\"\n", "--config c.toml",
       "c.toml: line 3: \"listen\" is set twice; keep one"},
      {"bad value", "listen = \"here\"\n", "--config c.toml",
       "c.toml: line 1: bad value for \"listen\": must be ADDRESS:PORT"},
      {"no number", "max-connections = \"many\"\n", "--config c.toml",
       "c.toml: line 1: bad value for \"max-connections\": must be a whole number from 1 to "
       "1000000"},
      {"bad duration", "body-idle-timeout = \"soon\"\n", "--config c.toml",
       "c.toml: line 1: bad value for \"body-idle-timeout\": must be a duration such as 90s, 5m"},
      {"a duration without a unit", "keep-jobs = \"90\"\n", "--config c.toml",
       "c.toml: line 1: bad value for \"keep-jobs\": must be a duration with a unit: 90s, 90m, 90h "
       "or 90d"},
      {"a duration that is a number", "keep-jobs = 90\n", "--config c.toml",
       "bad value for \"keep-jobs\": must be a duration with a unit: 90s"},
      {"a text without quotes", "job = llama\n", "--config c.toml",
       "c.toml: line 1: bad value for \"job\": a text must be in quotes"},
      {"a text without its end", "\njob = \"a\nb\"\n", "--config c.toml",
       "c.toml: line 2: bad value for \"job\": the text has no closing quote"},
      {"a number for a text", "job = 5\n", "--config c.toml",
       "c.toml: line 1: bad value for \"job\": must be a text in quotes: job = \"5\""},
      {"a table in three brackets", "[[[receiver]]\n", "--config c.toml", "c.toml: line 1: "},
      {"a text for a switch", "insecure = \"maybe\"\n", "--config c.toml",
       "bad value for \"insecure\": must be true or false, without quotes"},
      {"a list for one value", "job = [\"a\"]\n", "--config c.toml",
       "bad value for \"job\": takes one value"},
      {"a date for a text", "job = 2026-01-01\n", "--config c.toml",
       "c.toml: line 1: bad value for \"job\": must be a text in quotes"},
      {"no TOML", "listen: 127.0.0.1:0\n", "--config c.toml",
       "c.toml: line 1: not valid TOML: a setting is a line such as job = \"llama\""},
      {"no text", "\xff\xfe", "--config c.toml",
       "c.toml: line 1: not valid TOML: the file is not "},
      {"a folder", "", "--config .", ".: is a folder; name a file of settings in TOML"},
      {"no such file", "", "--config absent.toml", "absent.toml: cannot be read"},
      {"no file of tokens", "\ntokens = \"absent\"\n", "--config c.toml --check-config",
       "tokens absent: cannot be read: No such file or directory (tokens in c.toml, line 2)"},
      {"no folder of rules", "rules = \"absent\"\n", "--config c.toml --check-config",
       "name one that holds catalog files (rules in c.toml, line 1)"},
      {"rules of the command line", "rules = \"other\"\n",
       "--config c.toml --rules absent --check-config", "name one that holds catalog files\n"},
      {"no key", "tls-cert = \"absent\"\ntls-key = \"other\"\n", "--config c.toml --check-config",
       "those of its issuers (tls-cert in c.toml, line 1)"},
      {"others can reach it", "", "--listen 0.0.0.0:0", "or --insecure if the network is trusted"},
      {"others can read along", "", "--listen 0.0.0.0:0 --tokens c.toml",
       "use --tls-cert and --tls-key, or --insecure"},
      {"no port of syslog", "", "--syslog here", "--syslog: must be ADDRESS:PORT or PORT"},
      {"others can reach syslog", "", "--listen 127.0.0.1:0 --syslog 0.0.0.0:0",
       "syslog 0.0.0.0:0: others can reach this address, and syslog has no tokens"},
      {"syslog would pass by the tokens", "",
       "--listen 127.0.0.1:0 --syslog 0.0.0.0:0 --tokens c.toml --insecure",
       "syslog cannot carry tokens; use 127.0.0.1"},
      {"half of TLS", "", "--listen 127.0.0.1:0 --tls-key c.toml",
       "TLS needs both --tls-cert and --tls-key"},
      {"no certificate", "", "--listen 127.0.0.1:0 --tls-cert c.toml --tls-key c.toml",
       "--tls-cert c.toml: no start line; name a PEM file"},
      {"broken catalog folder", "", "--listen 127.0.0.1:0 --rules absent", "absent"},
      {"data that is no folder", "", "--listen 127.0.0.1:0 --data c.toml",
       "data c.toml: cannot be created"},
      {"data that is found to be no folder", "", "--data c.toml --check-config", "is not a folder"},
      {"data below a file", "", "--data c.toml/below --check-config", "c.toml is not a folder"},
      {"a flag twice", "", "--listen 127.0.0.1:0 --listen 127.0.0.1:0",
       "--listen is given more than once; give it once"},
      {"a flag without its value", "", "--listen", "--listen needs a value: --listen ADDRESS:PORT"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Workshop workshop;
    workshop.write("c.toml", c.config);
    const Said said = serve(workshop, c.flags);
    EXPECT_EQ(said.exit, 2);
    EXPECT_THAT(said.text, HasSubstr(c.says));
    const bool of_command_line = said.text.starts_with("faultline serve: ");  // plus a hint
    EXPECT_EQ(std::count(said.text.begin(), said.text.end(), '\n'), of_command_line ? 2 : 1)
        << said.text;
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

TEST(Serve, AsksForAUnitBecauseDaysThatAreTakenForSecondsLoseJobs) {
  Workshop workshop;
  for (const char* flags : {"--keep-jobs 90", "--keep-findings 400", "--stall-after 2",
                            "--resolve-after 24", "--alert-hold 30", "--rest-after 10"}) {
    const Said said = serve(workshop, std::string(flags) + " --check-config");
    EXPECT_EQ(said.exit, 2) << flags;
    EXPECT_THAT(said.text, HasSubstr("must be a duration with a unit: ")) << flags;
  }
  EXPECT_THAT(serve(workshop, "--keep-jobs 30m --check-config").text,
              HasSubstr("--keep-jobs: must be a duration of 1h or more, or 0: for ever"));
  EXPECT_THAT(serve(workshop, "--keep-at-most 20 --check-config").text,
              HasSubstr("--keep-at-most: must be a size of 1MB or more, or 0: no limit"));
  EXPECT_THAT(serve(workshop, "--memory 20 --check-config").text,
              HasSubstr("--memory: must be a size of 64MB or more, or 0: no limit"));
  EXPECT_THAT(serve(workshop, "--memory 0% --check-config").text,
              HasSubstr("--memory: must be a share from 1% to 100%, or a size"));
  const Said good =
      serve(workshop,
            "--keep-jobs 0 --keep-findings 0s --stall-after 0 --alert-hold 0 "
            "--min-free 5000000000 --keep-at-most '2 TB' --memory 25% --check-config");
  EXPECT_EQ(good.exit, 0) << good.text;
}

struct Reloaded : testing::Test {
  void settle(const std::string& said) {
    EXPECT_TRUE(eventually([&] { return server->messages().find(said) != std::string::npos; }))
        << said << " is not in " << server->messages();
  }
  void reload(const std::string& settings, const std::string& said) {
    workshop.write("c.toml", settings);
    server->ask_to_reload();
    settle(said);
  }
  void start(const std::string& settings, std::vector<std::string> flags = {}) {
    workshop.write("c.toml", settings);
    flags.insert(flags.end(),
                 {"--config", (workshop.folder() / "c.toml").string(), "--stall-after", "0s"});
    server.emplace(workshop.folder(), flags);
  }
  void lose_a_gpu(const std::string& job) {
    workshop.write("dmesg",
                   "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, "
                   "GPU has fallen off the bus.\n");
    EXPECT_EQ(curl(*server, "/api/v1/ingest?host=gpu-7&source=s&job=" + job,
                   "--data-binary @" + (workshop.folder() / "dmesg").string())
                  .status,
              200);
  }
  static std::string told_to(const std::string& name, const FakeReceiver& receiver) {
    return "[[receiver]]\nname = \"" + name + "\"\ntype = \"webhook\"\nurl = \"" + receiver.url() +
           "\"\nallow_private = true\nhold = \"0s\"\nmin_confidence = 0.5\ngroup_wait = \"0s\"\n";
  }

  Workshop workshop;
  std::optional<ServerProcess> server;
};

TEST_F(Reloaded, TellsThoseWhoStandInItsFileNowAndCountsOnForThoseWhoStayed) {
  FakeReceiver first, second;
  start(told_to("one", first));
  lose_a_gpu("a");
  ASSERT_TRUE(first.await(1));
  reload(told_to("one", first) + told_to("two", second), "event=settings-read");
  lose_a_gpu("b");
  ASSERT_TRUE(first.await(2));
  ASSERT_TRUE(second.await(1));
  EXPECT_THAT(second.heard().front().body, HasSubstr("gpu-7"));
  EXPECT_TRUE(eventually([&] {
    return plain_get(*server, "/metrics")
               .body.find(
                   "faultline_alert_messages_total{receiver=\"one\",outcome=\"accepted\"} 2") !=
           std::string::npos;
  }));
  FakeReceiver third;
  reload(told_to("two", second) + told_to("three", third), "receivers=2\n");
  EXPECT_TRUE(third.await(2)) << "of a and b, which are open";
  reload(told_to("two", second), "receivers=1\n");
  lose_a_gpu("c");
  EXPECT_TRUE(second.await(2));
  EXPECT_EQ(first.heard().size(), 2U);
}

TEST_F(Reloaded, ByAFileThatIsWrongStaysAsItWasAndSaysWhy) {
  FakeReceiver receiver;
  start(told_to("one", receiver));
  reload("keep-jobs = 90\n", "event=settings-not-read");
  settle("c.toml: line 1: bad value for");
  lose_a_gpu("a");
  EXPECT_TRUE(receiver.await(1));
}

TEST_F(Reloaded, AReceiverThatHangsDelaysNoOther) {
  FakeReceiver hangs([](int) { std::this_thread::sleep_for(std::chrono::seconds(3)); });
  FakeReceiver quick;
  start(told_to("slow", hangs));
  lose_a_gpu("a");
  ASSERT_TRUE(hangs.await(1));
  reload(told_to("quick", quick), "event=settings-read");
  EXPECT_TRUE(quick.await(1, std::chrono::seconds(2)));
}

TEST_F(Reloaded, ByRulesThatAreWrongStaysAsItWasAltogether) {
  FakeReceiver first, second;
  start(told_to("one", first));
  reload("rules = \"/nowhere\"\n" + told_to("two", second), "event=rules-not-read");
  lose_a_gpu("a");
  EXPECT_TRUE(first.await(1));
  EXPECT_TRUE(second.heard().empty());
}

TEST_F(Reloaded, NamesWhatOnlyARestartPutsInForceAndKeepsToTheCommandLine) {
  start("keep-jobs = \"7d\"\n", {"--job", "mine"});
  reload("keep-jobs = \"8d\"\njob = \"other\"\n", "event=settings-read");
  settle("event=rules-read");
  EXPECT_THAT(server->messages(), testing::Not(HasSubstr("settings-need-restart")));
  EXPECT_EQ(curl(*server, "/api/v1/ingest", "-d hello").json().at("job").as_string(), "mine");
  reload("max-connections = 9\nkeep-lines = \"0\"\n", "event=settings-need-restart");
  settle("settings=max-connections,keep-lines");
}

TEST_F(Reloaded, TakesTheRoomThatHasToStayFree) {
  start("");
  lose_a_gpu("a");
  const auto is_ready = [&](bool wanted) {
    return eventually([&] { return (plain_get(*server, "/readyz").status == 200) == wanted; });
  };
  reload("min-free = \"1000GB\"\nkeep-lines = \"1MB\"\n", "event=settings-read");
  EXPECT_TRUE(is_ready(false));
  reload("min-free = \"1MB\"\n", "event=settings-read");
  EXPECT_TRUE(is_ready(true));
  EXPECT_THAT(server->messages(), testing::Not(HasSubstr("settings-need-restart")));
}

TEST_F(Reloaded, TakesTheMemoryThatJobsMayTake) {
  start("memory = \"1GB\"\n");
  const auto may_take = [&](const std::string& bytes) {
    return eventually([&] {
      return plain_get(*server, "/metrics")
                 .body.find("\nfaultline_memory_budget_bytes " + bytes + "\n") != std::string::npos;
    });
  };
  EXPECT_TRUE(may_take("1073741824"));
  reload("memory = \"2GB\"\n", "event=settings-read");
  EXPECT_TRUE(may_take("2147483648"));
  reload("memory = \"0\"\n", "event=settings-read");
  EXPECT_TRUE(may_take("0"));
  EXPECT_THAT(server->messages(), testing::Not(HasSubstr("settings-need-restart")));
}

TEST(Serve, TakesLogsForItsDefaultJob) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--job", "llama"});
  EXPECT_EQ(curl(server, "/api/v1/ingest", "-d hello").json().at("job").as_string(), "llama");
  EXPECT_EQ(plain_get(server, "/api/v1/sources").status, 200);
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
