// Messages of syslog in all their forms, and their frames in the bytes of a connection.
#include "doors/syslog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "doors/syslog_framing.h"
#include "read_into.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using namespace std::literals;

Timestamp in_march() { return *parse_rfc3339("2026-03-05T12:00:00Z"); }

std::string given_by(std::string_view text, Timestamp received = in_march()) {
  Given given;
  read_syslog(text, received, given.lines);
  EXPECT_EQ(given.lines.messages(), 1) << text;
  const std::vector<std::string> all = given.all();
  return all.size() == 1 ? all.front() : "";
}

TEST(Syslog, IsReadInEachOfItsForms) {
  struct Case {
    const char* why;
    std::string_view text;
    std::string_view given;  // without the last newline
  };
  const Case cases[] = {
      {"RFC 5424 with all its fields",
       R"(<165>1 2026-03-05T02:47:11.003000+01:00 gpu-3 trainer 4242 ID7 [faultline@0 job="llama" rank="3"] step 7)",
       "llama|gpu-3|3|gpu-3/trainer/rank3\n2026-03-05T01:47:11.003Z stdout F step 7"},
      {"fields that are not known", "<14>1 2026-03-05T02:47:11Z - - - - - text",
       "unlabelled||-1|10.0.0.9/peer\n2026-03-05T02:47:11Z stdout F text"},
      {"no time", "<14>1 - gpu-3 trainer - - - text", "unlabelled|gpu-3|-1|gpu-3/trainer\ntext"},
      {"a byte order mark before the text",
       "<14>1 2026-03-05T02:47:11Z gpu-3 trainer - - - \xef\xbb\xbftext",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2026-03-05T02:47:11Z stdout F text"},
      {"escapes in a value",
       R"(<14>1 - gpu-3 t - - [a faultline_job="a\"b\\c\]d\e"][b x="]"] [text])",
       "a\"b\\c]d\\e|gpu-3|-1|gpu-3/t\n[text]"},
      {"the label that says most counts",
       R"(<14>1 - gpu-3 t - - [a job="group"][x faultline_job="llama" faultline_host="gpu-4"] text)",
       "llama|gpu-4|-1|gpu-4/t\ntext"},
      {"elements without values", "<14>1 - gpu-3 t - - [a][b@7] text",
       "unlabelled|gpu-3|-1|gpu-3/t\ntext"},
      {"structured data that has no end", R"(<14>1 - gpu-3 t - - [a b="c text)",
       "unlabelled||-1|10.0.0.9/peer\n1 - gpu-3 t - - [a b=\"c text"},
      {"a number before a text", "<13>7 - GPU 3 fell off: the bus is gone",
       "unlabelled||-1|10.0.0.9/peer\n7 - GPU 3 fell off: the bus is gone"},
      {"a number before a text without a priority", "3 - retry connect to host gpu-14 failed",
       "unlabelled||-1|10.0.0.9/peer\n3 - retry connect to host gpu-14 failed"},
      {"a version and no priority", "1 - gpu-3 t - - - text",
       "unlabelled||-1|10.0.0.9/peer\n1 - gpu-3 t - - - text"},
      {"fields that are missing", "<13>1 - - drops on port",
       "unlabelled||-1|10.0.0.9/peer\n1 - - drops on port"},
      {"fields that are empty", "<13>1 - gpu-3  - - - text",
       "unlabelled||-1|10.0.0.9/peer\n1 - gpu-3  - - - text"},
      {"NUL at the end", "<13>trainer[7]: text\0\0"sv, "unlabelled||-1|10.0.0.9/trainer\ntext"},
      {"no text", "<14>1 2026-03-05T02:47:11Z gpu-3 t - - -",
       "unlabelled|gpu-3|-1|gpu-3/t\n2026-03-05T02:47:11Z stdout F "},
      {"several lines", "<14>1 2026-03-05T02:47:11Z gpu-3 t - - - Traceback:\n  File \"a\"\n",
       "unlabelled|gpu-3|-1|gpu-3/t\n2026-03-05T02:47:11Z stdout F Traceback:\n"
       "2026-03-05T02:47:11Z stdout F   File \"a\""},
      {"the kernel, in RFC 5424",
       "<4>1 2026-03-05T02:47:11.003Z gpu-3 kernel - - - [   12.345678] NVRM: Xid",
       "unlabelled|gpu-3|-1|gpu-3/kernel\n"
       "2026-03-05T02:47:11.003Z gpu-3 kernel: [   12.345678] NVRM: Xid"},
      {"a program that calls itself kernel", "<14>1 2026-03-05T02:47:11Z gpu-3 kernel - - - Xid",
       "unlabelled|gpu-3|-1|gpu-3/peer\n2026-03-05T02:47:11Z stdout F Xid"},
      {"the kernel without a time", "<4>1 - gpu-3 kernel - - - NVRM: Xid",
       "unlabelled|gpu-3|-1|gpu-3/kernel\nkernel: NVRM: Xid"},

      {"RFC 3164: a year, and no zone", "<13>Mar  5 02:47:11 gpu-3 trainer[4242]: step 7",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2026-03-05T02:47:11 stdout F step 7"},
      {"the kernel, in RFC 3164", "<4>Mar 05 02:47:11 gpu-3 kernel: [   12.3] NVRM: Xid",
       "unlabelled|gpu-3|-1|gpu-3/kernel\n2026-03-05T02:47:11 gpu-3 kernel: [   12.3] NVRM: Xid"},
      {"rsyslog's RSYSLOG_ForwardFormat",
       "<13>2026-03-05T02:47:11.003000+01:00 gpu-3 trainer: step 7",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2026-03-05T01:47:11.003Z stdout F step 7"},
      {"a stamp without a zone", "<13>2026-03-05T02:47:11.5 gpu-3 trainer: step 7",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2026-03-05T02:47:11.500 stdout F step 7"},
      {"a stamp of last year", "<13>Dec 31 23:59:59.250 gpu-3 trainer: x",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2025-12-31T23:59:59.250 stdout F x"},
      {"a zone ahead of ours", "<13>Mar  6 01:00:00 gpu-3 trainer: x",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2026-03-06T01:00:00 stdout F x"},
      {"a day that only some years have", "<13>Feb 29 01:00:00 gpu-3 trainer: x",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2024-02-29T01:00:00 stdout F x"},
      {"a year behind the day", "<13>Mar  5 2025 02:47:11 gpu-3 trainer: x",
       "unlabelled|gpu-3|-1|gpu-3/trainer\n2025-03-05T02:47:11 stdout F x"},
      {"no host", "<13>Mar  5 02:47:11 trainer[4242]: step 7",
       "unlabelled||-1|10.0.0.9/trainer\n2026-03-05T02:47:11 stdout F step 7"},
      {"no host and no tag: the text stays whole",
       "<13>Mar  5 02:47:11 node0:1000:2000 [0] NCCL INFO x",
       "unlabelled||-1|10.0.0.9/node0\n2026-03-05T02:47:11 stdout F node0:1000:2000 [0] NCCL INFO "
       "x"},
      {"words that are no tag", "<13>Mar  5 02:47:11 CUDA error in step 7: stop",
       "unlabelled||-1|10.0.0.9/CUDA\n2026-03-05T02:47:11 stdout F CUDA error in step 7: stop"},
      {"a host and a tag without a colon",
       "<133>Mar  5 02:47:11 node-3 kmsg NVRM: Xid (PCI:0000:3b:00): 79",
       "unlabelled||-1|10.0.0.9/node-3\n"
       "2026-03-05T02:47:11 stdout F node-3 kmsg NVRM: Xid (PCI:0000:3b:00): 79"},
      {"a number in the place of a host", "<13>Mar  5 02:47:11 17 is odd",
       "unlabelled||-1|10.0.0.9/peer\n2026-03-05T02:47:11 stdout F 17 is odd"},
      {"a host that is not known", "<13>Mar  5 02:47:11 - trainer[7]: step 7",
       "unlabelled||-1|10.0.0.9/trainer\n2026-03-05T02:47:11 stdout F step 7"},
      {"a tag that rsyslog cut", "<13>Mar  5 02:47:11 gpu-3 my-program-whose-name-is-so-long text",
       "unlabelled|gpu-3|-1|gpu-3/my-program-whose-name-is-so-long\n"
       "2026-03-05T02:47:11 stdout F text"},
      {"a switch", "<187>Mar  5 02:47:11 leaf-3 %LINK-3-UPDOWN: Interface Ethernet1/7 down",
       "unlabelled|leaf-3|-1|leaf-3/peer\n"
       "2026-03-05T02:47:11 stdout F %LINK-3-UPDOWN: Interface Ethernet1/7 down"},
      {"a switch that writes levels",
       "<28>Mar  5 02:47:11 leaf-8 NOTICE swss#orchagent: :- Port Ethernet0 down",
       "unlabelled|leaf-8|-1|leaf-8/swss#orchagent\n"
       "2026 Mar  5 02:47:11.000000 leaf-8 swss#orchagent: :- Port Ethernet0 down"},
      {"the same without a level, in another form",
       "<28>2026-03-05T02:47:11.5Z leaf-8 swss#orchagent: :- Port Ethernet0 down",
       "unlabelled|leaf-8|-1|leaf-8/swss#orchagent\n"
       "2026-03-05T02:47:11.500+00:00 leaf-8 swss#orchagent: :- Port Ethernet0 down"},
      {"a level before the kernel's tag", "Mar  5 02:47:11 leaf-7 WARNING kernel: [1.2] NVRM: Xid",
       "unlabelled|leaf-7|-1|leaf-7/kernel\n2026-03-05T02:47:11 leaf-7 kernel: [1.2] NVRM: Xid"},
      {"a switch of Cisco",
       "<187>: 2025 Nov 28 22:00:01 UTC: %ETHPORT-5-IF_DOWN: Ethernet1/5 is down",
       "unlabelled||-1|10.0.0.9/peer\n"
       "2025-11-28T22:00:01Z stdout F %ETHPORT-5-IF_DOWN: Ethernet1/5 is down"},
      {"the same with a number, its name and another zone",
       "<187>29: leaf-4: 2025 Dec 31 23:59:59.5 CET: %ETHPORT-5-IF_DOWN: Ethernet1/5 is down",
       "unlabelled|leaf-4|-1|leaf-4/peer\n"
       "2025-12-31T23:59:59.500 stdout F %ETHPORT-5-IF_DOWN: Ethernet1/5 is down"},
      {"no stamp", "<13>trainer[7]: text", "unlabelled||-1|10.0.0.9/trainer\ntext"},
      {"no stamp, and a colon in the text", "<13>RuntimeError: CUDA error",
       "unlabelled||-1|10.0.0.9/peer\nRuntimeError: CUDA error"},
      {"the kernel's own bytes", "<4>[   12.345678] NVRM: Xid",
       "unlabelled||-1|10.0.0.9/kernel\nkernel: [   12.345678] NVRM: Xid"},
      {"no priority", "Mar  5 02:47:11 gpu-3 kernel: NVRM: Xid",
       "unlabelled|gpu-3|-1|gpu-3/kernel\n2026-03-05T02:47:11 gpu-3 kernel: NVRM: Xid"},
      {"a priority that there is not", "<999>text", "unlabelled||-1|10.0.0.9/peer\n<999>text"},
      {"no number in it", "<-1>text", "unlabelled||-1|10.0.0.9/peer\n<-1>text"},
      {"a day that there is not", "<13>Feb 30 01:00:00 gpu-3 t: x",
       "unlabelled||-1|10.0.0.9/peer\nFeb 30 01:00:00 gpu-3 t: x"},
      {"nothing but a priority", "<13>", "unlabelled||-1|10.0.0.9/peer\n"},
      {"nothing but a month", "<13>Mar", "unlabelled||-1|10.0.0.9/peer\nMar"},
      {"an hour that there is not", "<13>Mar  5 24:00:00 h t: x",
       "unlabelled||-1|10.0.0.9/peer\nMar  5 24:00:00 h t: x"},
  };
  for (const Case& c : cases) EXPECT_EQ(given_by(c.text), std::string(c.given) + "\n") << c.why;
}

struct Framed {
  std::vector<std::string> messages;
  std::string why;  // it is no syslog
  int cut = 0;
  bool operator==(const Framed&) const = default;
};

Framed framed(std::string_view bytes, std::size_t piece) {
  Framed all;
  SyslogFraming framing;
  std::string_view message;
  const auto keep = [&] {
    all.messages.emplace_back(message);
    if (framing.was_cut()) ++all.cut;
  };
  while (!bytes.empty() && all.why.empty()) {
    const std::string copy(bytes.substr(0, piece));  // what lies behind it must not be read
    bytes.remove_prefix(copy.size());
    for (std::string_view rest = copy; !rest.empty();) {
      const SyslogFraming::Found found = framing.next(rest, message);
      if (found == SyslogFraming::Found::message) keep();
      if (found == SyslogFraming::Found::nothing) {
        EXPECT_TRUE(rest.empty());
      }
      if (found != SyslogFraming::Found::no_syslog) continue;
      all.why = framing.why();
      break;
    }
  }
  if (framing.finish(message)) keep();
  EXPECT_FALSE(framing.finish(message));
  return all;
}

TEST(SyslogFraming, FindsMessagesHoweverTheBytesAreCut) {
  struct Case {
    const char* why;
    std::string_view bytes;
    std::vector<std::string> messages;
  };
  const Case cases[] = {
      {"lines", "<13>a\n<13>b\r\n<13>c\n", {"<13>a", "<13>b\r", "<13>c"}},
      {"counts", "5 <13>a6 <13>b\n7 <13>\n\nc", {"<13>a", "<13>b\n", "<13>\n\nc"}},
      {"both, in turns", "<13>a\n5 <13>b<13>c\n5 <13>d\n", {"<13>a", "<13>b", "<13>c", "<13>d"}},
      {"a last line without an end", "<13>a\n<13>b", {"<13>a", "<13>b"}},
      {"lines that begin with numbers",
       "12 monkeys\n5\n7 \n2026-03-05 x\n05 <13>a\n12345678901 <13>b\n",
       {"12 monkeys", "5", "7 ", "2026-03-05 x", "05 <13>a", "12345678901 <13>b"}},
      {"a number at the end", "17", {"17"}},
      {"a number before what is no priority",
       "900 <unfinished ...>\n9 <\n123456789 <13>a\n5 <13>b<13>c\n",
       {"900 <unfinished ...>", "9 <", "123456789 <13>a", "<13>b", "<13>c"}},
      {"a count of one", "1 <13>a\n", {"<", "13>a"}},
      {"nothing between", "\n\r\n\0\0\n<13>a\0<13>b\0"sv, {"<13>a", "<13>b"}},
      {"NUL within a count", "6 <13>\0a"sv, {"<13>\0a"s}},
      {"HTTP later on is a text", "<13>a\nGET / HTTP/1.1\n", {"<13>a", "GET / HTTP/1.1"}},
  };
  for (const Case& c : cases) {
    for (std::size_t piece = 1; piece <= c.bytes.size(); ++piece) {
      const Framed found = framed(c.bytes, piece);
      EXPECT_EQ(found.messages, c.messages) << c.why << ", in pieces of " << piece;
      EXPECT_EQ(found.why, "") << c.why;
      EXPECT_EQ(found.cut, 0) << c.why;
    }
  }
}

TEST(SyslogFraming, CutsMessagesThatAreTooLong) {
  constexpr std::size_t kLongest = SyslogFraming::kLongestMessage;
  const std::string fits(kLongest, 'a');
  const std::string longer = fits + std::string(kLongest, 'b');
  const std::string text = "<13>" + longer;
  const std::string begin = text.substr(0, kLongest);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, kLongest, std::size_t{1} << 20}) {
    EXPECT_EQ(framed(fits + "\n" + text + "\n<13>c\n", piece),
              (Framed{{fits, begin, "<13>c"}, "", 1}));
    EXPECT_EQ(framed(fmt::format("{} {}<13>c\n", text.size(), text), piece),
              (Framed{{begin, "<13>c"}, "", 1}));
  }
  EXPECT_EQ(framed("100 <13>a", 4), (Framed{{"<13>a"}, "", 1})) << "the rest never came";
}

TEST(SyslogFraming, RecognisesWhatIsNoSyslog) {
  const std::string endless = "no end " + std::string(SyslogFraming::kAbsurdMessage, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{1} << 20}) {
    const auto why = [&](std::string_view bytes) { return framed(bytes, piece).why; };
    EXPECT_EQ(why("\x16\x03\x01\x02\x00\x01"sv), "the client speaks TLS");
    EXPECT_EQ(why("GET /metrics HTTP/1.1\r\nHost: x\r\n"), "the client speaks HTTP");
    EXPECT_EQ(why("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "the client speaks HTTP");
    EXPECT_EQ(why("99999999 <13>a\n"), "a message has no end");
  }
  for (const std::size_t piece : {std::size_t{4096}, std::size_t{100} << 20}) {
    const Framed found = framed(endless + "\n<13>a\n", piece);
    EXPECT_EQ(found.why, "a message has no end");
    EXPECT_THAT(found.messages, ElementsAre());
  }
}

// It keeps no more of a message than may be kept, whatever comes.
TEST(SyslogFraming, TakesAllBytesWhileItWaits) {
  SyslogFraming framing;
  const std::string piece(1000, '\x80');
  for (int i = 0; i < 1000; ++i) {
    std::string_view rest = piece;
    std::string_view message;
    EXPECT_EQ(framing.next(rest, message), SyslogFraming::Found::nothing);
    EXPECT_TRUE(rest.empty());
  }
  std::string_view message;
  EXPECT_TRUE(framing.finish(message));
  EXPECT_EQ(message.size(), SyslogFraming::kLongestMessage);
}

}  // namespace
}  // namespace faultline
