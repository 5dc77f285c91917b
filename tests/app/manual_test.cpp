// What the program says about itself (--help, the manual, completions) and about a command line
// that it does not understand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "program.h"

namespace faultline {
namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kCommands{
    "",           "serve",      "diagnose",    "simulate",  "rules",
    "rules list", "rules show", "rules check", "alerts",    "alerts test",
    "token",      "backup",     "restore",     "reanalyze", "ship",
    "guard",      "version",    "completion",  "help",
};

using Manual = ProgramTest;

std::string replaced(std::string in, const char* what, const char* by) {
  RE2::GlobalReplace(&in, RE2::QuoteMeta(what), by);
  return in;
}

std::vector<std::string> sorted_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words(std::istream_iterator<std::string>(in), {});
  std::ranges::sort(words);
  return words;
}

TEST_F(Manual, HelpsOnEveryLevel) {
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    const Outcome outcome = run("$F " + command + " --help");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out,
                HasSubstr("\nUsage: faultline" + (command.empty() ? "" : " " + command)));
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(run("$F help " + command).out, outcome.out);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(Manual, HasAPageForEveryCommandThatNamesEveryOption) {
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    const std::string help = run("$F " + command + " --help").out;
    const Outcome page = run("SOURCE_DATE_EPOCH=0 $F man " + command);
    EXPECT_EQ(page.status, 0);
    EXPECT_THAT(page.out, HasSubstr(" 1 \"1970-01-01\" \"faultline "));
    const RE2 flag("\n  (?:-[a-z], )?--([a-z-]+)");
    re2::StringPiece rest(help);
    for (std::string option; RE2::FindAndConsume(&rest, flag, &option);) {
      const std::string name = replaced(option, "-", R"(\\-)");
      EXPECT_THAT(page.out, HasSubstr("\\fB\\-\\-" + name + "\\fR"));
    }
    for (const std::string& other : kCommands) {
      if (other.empty() || other == command) continue;
      const std::string name = replaced(other, " ", R"(\\-)");
      EXPECT_THAT(page.out, HasSubstr(".BR faultline\\-" + name + " (1)"));
    }
  }
  EXPECT_EQ(run("$F man nosuch").status, 2);
}

TEST_F(Manual, TellsNotesAndExitStatusApart) {
  const std::string serve = run("$F man serve").out;
  EXPECT_THAT(serve, ContainsRegex("\n.SH NOTES\nDURATION is"));
  EXPECT_THAT(serve, ContainsRegex("\n.SH EXIT STATUS\n0 SIGTERM"));
  const std::string diagnose = run("$F man diagnose").out;
  EXPECT_THAT(diagnose, ContainsRegex("\n.SH EXIT STATUS\n0 nothing wrong"));
}

TEST_F(Manual, IsCompletedByBash) {
  workshop.write("logs/a.txt", "");
  workshop.write("logs.toml", "");
  struct Case {
    const char* words;  // the words of the line; the last one is being typed
    const char* offered;
  };
  const Case cases[] = {
      {"faultline s", "serve simulate ship"},
      {"faultline serve --tls", "--tls-cert --tls-key --tls-client-ca"},
      {"faultline rules ''", "list show check"},
      {"faultline rules list --f", "--format"},
      {"faultline rules list --format ''", "text json names"},
      {"faultline diagnose --format = m", "markdown"},
      {"faultline diagnose l", "logs logs.toml"},
      {"faultline restore l", "logs logs.toml"},
      {"faultline restore --data l", "logs"},
      {"faultline serve --config l", "logs logs.toml"},
      {"faultline serve --data l", "logs"},
      {"faultline serve --job l", ""},
      {"faultline diagnose --job serve --exp", "--explain"},
      {"faultline completion ''", "bash zsh fish"},
      {"faultline simulate --scenario gpu_off", "gpu_off_bus"},
      {"faultline rules show nccl.shm.f", "nccl.shm.full"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const Outcome outcome =
        run(fmt::format("PATH=$(dirname $F):$PATH; $F completion bash > completion && bash -c '. "
                        "./completion; compopt() {{ "
                        ":; }}; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                        "_faultline; echo \"${{COMPREPLY[*]}}\"'",
                        replaced(c.words, "''", "\"\"")));
    // bash sorts what it shows.
    EXPECT_EQ(sorted_words(outcome.out), sorted_words(c.offered));
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Manual, SaysWhatIsWrongWithACommandLine) {
  struct Case {
    const char* line;
    const char* error;
  };
  const Case cases[] = {
      {"$F diagnos x",
       "faultline: there is no command \"diagnos\"; did you mean diagnose?\n"
       "faultline --help says more.\n"},
      {"$F serv --listen x", "there is no command \"serv\"; did you mean serve?"},
      {"$F quuxify", "faultline: there is no command \"quuxify\"\n"},
      {"$F rules lsit",
       "faultline rules: there is no command \"lsit\"; did you mean list?\n"
       "faultline rules --help says more.\n"},
      {"$F rules", "faultline rules: name a command: list, show, check\n"},
      {"$F backup --data x", "faultline backup: FILE is required\n"},
      {"$F ship --to http://x --follow --collect stacks,stack /tmp",
       "faultline ship: --collect: there is no kind \"stack\"\n"},
      {"$F simulate --nodes many --list", "--nodes: must be a number, not \"many\"\n"},
      {"$F token x --scope read --until 2020-01-01T00:00:00Z",
       "--until: is in the past; the token would never be accepted\n"},
      {"$F token x --scope read --rate 0", "--rate: must be a whole number from 1 to 1000000\n"},
      {"$F serve --listne x",
       "faultline serve: there is no option --listne; did you mean --listen?\n"},
      {"$F diagnose --formt=json x", "there is no option --formt; did you mean --format?\n"},
      {"$F --nope", "faultline: there is no option --nope\n"},
      {"$F version extra", "faultline version: \"extra\" is one argument too many\n"},
      {"$F diagnose",
       "faultline diagnose: PATH is required\nfaultline diagnose --help says more.\n"},
      {"$F diagnose --format xml x",
       "faultline diagnose: --format: must be one of text, json, markdown, html, not xml\n"},
      {"$F serve --max-connections 0",
       "faultline serve: --max-connections: must be a whole number from 1 to 1000000\n"},
      {"$F serve --config nosuch.toml", "faultline: nosuch.toml: cannot be read"},
      {"$F serve --tokens nosuch --check-config", "nosuch: cannot be read"},
      {"$F serve --tls-cert nosuch --tls-key k --check-config",
       "--tls-cert nosuch: No such file or directory; "},
      {"$F serve --data /proc/nosuch", "data /proc/nosuch: cannot be created"},
      {"$F serve --rules nosuch --check-config", "faultline: nosuch: is not a folder"},
      {"$F rules check nosuch", "nosuch: cannot be read"},
      {"$F simulate --out /proc/nosuch", " could not be made: No such file or directory\n"},
      {"$F backup --data nosuch copy", "faultline: nosuch/faultline.db: "},
      {"$F backup --data nosuch --to copy", "faultline: nosuch/faultline.db: "},
      {"$F restore --data x", "faultline restore: FILE is required\n"},
      {"$F restore nosuch --data x", "faultline: nosuch: there is no such file\n"},
      {"$F help nosuch", "faultline has no command \"nosuch\""},
  };
  for (const Case& c : cases) expect_refused(c.line, c.error);
}

TEST_F(Manual, FailsWhenWhatItPrintsCannotBeWritten) {
  for (const char* line :
       {"$F --help", "$F version", "$F rules list", "$F completion zsh", "$F token x --scope read",
        "$F serve --print-config", "$F simulate --list"}) {
    SCOPED_TRACE(line);
    const Outcome outcome = run(std::string(line) + " > /dev/full");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, EndsWith("faultline: the output could not be written to stdout\n"));
  }
}

TEST_F(Manual, PacksSettingsThatHoldWhenTheirMarksAreTakenOff) {
  const Outcome outcome =
      run("sed 's/^#\\([a-z[]\\)/\\1/' " TESTS_DIR
          "/../packaging/faultline.toml > all.toml && $F serve --config all.toml --print-config");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("listen = \"127.0.0.1:8686\"\n"));
  EXPECT_THAT(outcome.out, HasSubstr("[[receiver]]\nname = \"on-call\"\n"));
}

constexpr const char* kOffTheBus =
    "[  812.5] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";

// What the program prints if its stdout is a terminal.
std::string on_a_terminal(const std::string& arguments) {
  return fmt::format("unset NO_COLOR; export F TERM=xterm; script -qec \"{}\" terminal < /dev/null",
                     arguments);
}

TEST_F(Manual, ColoursADiagnosisOnATerminal) {
  workshop.write("dmesg.txt", kOffTheBus);
  const std::string out = run(on_a_terminal("$F diagnose dmesg.txt")).out;
  EXPECT_THAT(out, HasSubstr("\x1b[1;31moffline: FAILED")) << "the verdict";
  EXPECT_THAT(out, HasSubstr("\n\x1b[1mNo cause is certain; possible: GPU 0000:3b:00.0"))
      << "the culprit";
  EXPECT_THAT(out, HasSubstr("\n\x1b[1;36mnext:\x1b[0m ")) << "the next step";
  std::string plain = out;
  RE2::GlobalReplace(&plain, "\x1b\\[[0-9;]*m|\r", "");
  EXPECT_EQ(plain, run("$F diagnose dmesg.txt").out) << "colours change no word";
}

TEST_F(Manual, ColoursNothingElseAndNothingForWhoeverWantsNone) {
  workshop.write("dmesg.txt", kOffTheBus);
  for (const char* line :
       {"NO_COLOR=1 $F diagnose dmesg.txt", "TERM=dumb $F diagnose dmesg.txt",
        "$F diagnose --color=never dmesg.txt", "$F diagnose dmesg.txt | cat",
        "$F diagnose --format markdown dmesg.txt", "$F --help", "$F rules list", "$F nosuch"}) {
    const Outcome outcome = run(on_a_terminal(line));
    EXPECT_GT(outcome.out.size(), 20U) << line;
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b"))) << line;
  }
  EXPECT_THAT(run("NO_COLOR=1 $F diagnose --color always dmesg.txt").out, HasSubstr("\x1b[1;31m"));
}

}  // namespace
}  // namespace faultline
