// What comes by syslog, over TCP and UDP, to the real server: from sockets that send exactly these
// bytes, and from Debian's own rsyslog and syslog-ng.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "curl.h"
#include "doors/syslog_framing.h"
#include "eventually.h"
#include "raw_client.h"
#include "real_program.h"
#include "server_process.h"
#include "shippers.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::literals;

constexpr const char* kXid =
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=812, name=python, GPU has fallen off the bus.";

// A server that listens for syslog at a port of its own.
class SyslogServer {
 public:
  explicit SyslogServer(std::vector<std::string> more = {}) : more_(std::move(more)) { begin(); }

  void begin() {
    std::vector<std::string> flags{"--syslog", std::to_string(syslog_port), "--stall-after", "0s"};
    flags.insert(flags.end(), more_.begin(), more_.end());
    process = std::make_unique<ServerProcess>(workshop.folder(), flags);
  }

  // Stops it as an operator does, and starts it again.
  void restart() {
    process->ask_to_stop();
    EXPECT_EQ(process->wait_for_end(), 0) << process->messages();
    begin();
  }

  Reply get(const std::string& path) const { return plain_get(*process, path); }

  // Waits until the answer says so.
  void await_text(const std::string& path, const std::string& text) const {
    await(*process, path,
          [&](const Reply& reply) { return reply.body.find(text) != std::string::npos; });
  }

  std::uint64_t metric(const std::string& series) const {
    const std::string all = get("/metrics").body;
    const std::size_t at = all.find("\n" + series + " ");
    if (at == std::string::npos) ADD_FAILURE() << "no " << series;
    return at == std::string::npos ? 0 : std::stoull(all.substr(at + series.size() + 2));
  }

  Workshop workshop;
  const int syslog_port = free_port();
  std::unique_ptr<ServerProcess> process;

 private:
  std::vector<std::string> more_;
};

class DatagramClient {
 public:
  explicit DatagramClient(int port) : socket_(socket(AF_INET, SOCK_DGRAM, 0)) {
    const sockaddr_in address = on_loopback(port);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~DatagramClient() { close(socket_); }
  DatagramClient(const DatagramClient&) = delete;
  DatagramClient& operator=(const DatagramClient&) = delete;

  void say(std::string_view bytes) {
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

 private:
  int socket_;
};

std::string message_of(std::string_view job, std::string_view text) {
  return fmt::format("<14>1 2026-03-05T02:57:29.5Z gpu-3 trainer - - [faultline@0 job=\"{}\"] {}",
                     job, text);
}

std::string counted(const std::string& message) {
  return fmt::format("{} {}", message.size(), message);
}

std::string kernel_message() {
  return fmt::format("<4>1 2026-03-05T02:57:29Z gpu-3 kernel - - [faultline@0 job=\"llama\"] {}",
                     kXid);
}

TEST(SyslogDoor, GivesAMessageItsJobHostSourceAndTime) {
  struct Case {
    const char* why;
    std::function<void(int port)> send;
  };
  const Case cases[] = {
      {"a line", [](int port) { RawClient(port).say(kernel_message() + "\n"); }},
      {"with its length", [](int port) { RawClient(port).say(counted(kernel_message())); }},
      {"a datagram", [](int port) { DatagramClient(port).say(kernel_message()); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const SyslogServer server;
    c.send(server.syslog_port);
    server.await_text("/api/v1/sources?job=llama", R"("lines":1,)");
    EXPECT_THAT(server.get("/api/v1/sources?job=llama").body,
                AllOf(HasSubstr(R"("host":"gpu-3")"), HasSubstr("gpu-3/kernel"),
                      HasSubstr(R"("recognized":1,)")));
    EXPECT_THAT(server.get("/api/v1/jobs/llama/findings").body,
                AllOf(HasSubstr("gpu.off_bus"), HasSubstr(R"("hosts":["gpu-3"])"),
                      HasSubstr("2026-03-05T02:57:29Z")));
  }
}

TEST(SyslogDoor, TakesWhatNamesNoJobIntoTheDefaultJob) {
  const SyslogServer server({"--job", "mine"});
  RawClient(server.syslog_port).say("<13>Mar  5 02:57:29 gpu-3 trainer: hello\nnothing of syslog");
  server.await_text("/api/v1/sources?job=mine", "127.0.0.1/syslog");
  server.await_text("/api/v1/sources?job=mine", "gpu-3/trainer");
}

// Programs print the same line again, and nobody repeats what was never answered.
TEST(SyslogDoor, StoresEqualLinesAsOftenAsTheyCome) {
  const SyslogServer server;
  RawClient client(server.syslog_port);
  for (const int held : {3, 6, 9}) {
    for (int i = 0; i < 3; ++i) client.say(message_of("llama", "step done") + "\n");
    server.await_text("/api/v1/sources?job=llama", fmt::format(R"("lines":{},)", held));
  }
}

TEST(SyslogDoor, LosesNothingThatWasSentBeforeItStops) {
  constexpr int kMessages = 20'000;
  SyslogServer server;
  RawClient client(server.syslog_port);
  std::string all;
  for (int i = 0; i < kMessages; ++i) all += counted(message_of("llama", std::to_string(i)));
  ASSERT_TRUE(client.say(all));
  DatagramClient(server.syslog_port).say(message_of("gpt", "a datagram"));
  RawClient not_yet_accepted(server.syslog_port);
  not_yet_accepted.say(message_of("gpt", "the last one"));
  server.restart();
  EXPECT_THAT(server.get("/api/v1/sources?job=llama").body,
              HasSubstr(fmt::format(R"("lines":{},)", kMessages)));
  EXPECT_THAT(server.get("/api/v1/sources?job=gpt").body, HasSubstr(R"("lines":2,)"));
  EXPECT_TRUE(client.hears_the_end());
}

TEST(SyslogDoor, WritesBesideASourceThatAnotherConnectionHolds) {
  const SyslogServer server;
  RawClient holder(server.process->port());
  holder.say(
      "PUT /api/v1/ingest?job=llama&source=gpu-3/trainer HTTP/1.1\r\nHost: localhost\r\n"
      "Transfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n");
  server.await_text("/api/v1/sources?job=llama", R"("lines":1,)");
  RawClient(server.syslog_port).say(message_of("llama", "second") + "\n");
  server.await_text("/api/v1/sources?job=llama", "gpu-3/trainer#2");
}

TEST(SyslogDoor, DoesNotWaitForASourceThatAnotherConnectionHolds) {
  constexpr auto kPauseOfStore = std::chrono::seconds{1};
  const SyslogServer server;
  RawClient holder(server.process->port());
  holder.say(
      "PUT /api/v1/ingest?job=llama&source=gpu-3/trainer HTTP/1.1\r\nHost: localhost\r\n"
      "Transfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n");
  server.await_text("/api/v1/sources?job=llama", R"("lines":1,)");
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 1; i <= 4; ++i) {
    RawClient(server.syslog_port).say(message_of("llama", "second") + "\n");
    server.await_text("/api/v1/sources?job=llama", fmt::format(R"("lines":{0},)", i));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 3 * kPauseOfStore);
}

TEST(SyslogDoor, StopsAlthoughAClientKeepsSending) {
  SyslogServer server;
  RawClient client(server.syslog_port);
  client.say(message_of("llama", "first") + "\n");
  server.await_text("/api/v1/sources?job=llama", R"("lines":1,)");
  const auto begun = std::chrono::steady_clock::now();
  const auto since = [begun] { return std::chrono::steady_clock::now() - begun; };
  std::thread sender([&] {
    const std::string message = message_of("llama", "more") + "\n";
    while (since() < 20s && client.say(message)) std::this_thread::sleep_for(1ms);
  });
  server.process->ask_to_stop();
  EXPECT_EQ(server.process->wait_for_end(), 0);
  EXPECT_LT(since(), 15s);
  sender.join();
}

TEST(SyslogDoor, KeepsMessagesUntilTheStoreTakesThemAndSaysWhatItLost) {
  SyslogServer server({"--min-free", "1000000TB"});
  RawClient client(server.syslog_port);
  client.say(message_of("llama", "a") + "\n" + message_of("llama", "b") + "\n");
  EXPECT_TRUE(eventually(
      [&] { return server.process->messages().find("event=syslog-waits") != std::string::npos; }));
  EXPECT_EQ(server.metric("faultline_syslog_lost_total{reason=\"shutdown\"}"), 0);
  server.process->ask_to_stop();
  EXPECT_EQ(server.process->wait_for_end(), 0);
  EXPECT_THAT(server.process->messages(),
              AllOf(HasSubstr("event=syslog-lost"), HasSubstr("shutdown=2")));
}

TEST(SyslogDoor, ClosesConnectionsThatAreNoSyslogAndSaysSoOnce) {
  const SyslogServer server;
  const std::string no_end(SyslogFraming::kAbsurdMessage + 1, 'x');
  std::uint64_t closed = 0;
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02\x00", 5), std::string("GET / HTTP/1.1\r\n"),
        std::string("99999999 <13>"), no_end}) {
    RawClient client(server.syslog_port);
    client.say(bytes);
    client.hears_the_end();
    ++closed;
    EXPECT_TRUE(eventually([&] {
      return server.metric("faultline_syslog_connections_refused_total{reason=\"no_syslog\"}") ==
             closed;
    }));
    const std::string said = server.process->messages();
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = said.find("reason=syslog", at)) != std::string::npos; ++at)
      ++lines;
    EXPECT_EQ(lines, closed) << said;
  }
  EXPECT_TRUE(eventually([&] { return server.metric("faultline_syslog_connections") == 0; }));
  RawClient(server.syslog_port).say(message_of("llama", "still there") + "\n");
  server.await_text("/api/v1/sources?job=llama", R"("lines":1,)");
}

TEST(SyslogDoor, CutsLongMessagesAndTakesTheNext) {
  const SyslogServer server;
  RawClient(server.syslog_port)
      .say(counted(message_of("llama", std::string(200'000, 'x'))) +
           counted(message_of("llama", "next")));
  server.await_text("/api/v1/sources?job=llama", R"("lines":2,)");
  EXPECT_EQ(server.metric("faultline_syslog_cut_total"), 1);
}

TEST(SyslogDoor, LeavesRoomForOtherPeersConnections) {
  const SyslogServer server({"--max-connections", "4"});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.syslog_port));
    clients.back()->say(message_of("llama", "hello") + "\n");
  }
  server.await_text("/api/v1/sources?job=llama", R"("lines":3,)");
  RawClient fourth(server.syslog_port);
  EXPECT_TRUE(fourth.hears_the_end());
  EXPECT_EQ(server.metric("faultline_syslog_connections"), 3);
  EXPECT_EQ(server.metric("faultline_syslog_connections_refused_total{reason=\"too_many\"}"), 1);
}

TEST(SyslogDoor, SlowsDownASenderThatIsFasterThanTheStore) {
  constexpr int kMessages = 16'000;
  const SyslogServer server;
  RawClient client(server.syslog_port);
  const std::string message = counted(message_of("llama", std::string(4'000, 'x')));
  for (int i = 0; i < kMessages; ++i) ASSERT_TRUE(client.say(message));
  server.await_text("/api/v1/sources?job=llama", fmt::format(R"("lines":{},)", kMessages));
  EXPECT_LT(server.process->peak_kib(), std::size_t{300} << 10);
}

TEST(SyslogDoor, CountsTheDatagramsOfAFloodThatItDoesNotTake) {
  constexpr std::uint64_t kMessages = 40'000;
  const SyslogServer server;
  const std::string text(4'000, 'x');
  DatagramClient client(server.syslog_port);
  for (std::uint64_t i = 0; i < kMessages; ++i) client.say(message_of("llama", text));
  const auto counted_so_far = [&] {
    // The system tells what it dropped with the next datagram that finds room.
    client.say("<13>a");
    return server.metric("faultline_syslog_messages_total{over=\"udp\"}") +
           server.metric("faultline_syslog_lost_total{reason=\"flood\"}") +
           server.metric("faultline_syslog_lost_total{reason=\"kernel\"}");
  };
  EXPECT_TRUE(eventually([&] { return counted_so_far() >= kMessages; }));
  EXPECT_LT(server.process->peak_kib(), std::size_t{300} << 10);
}

// The syslog daemons of Debian, with the log of a job whose rank 5 stops.
class SyslogDaemons : public WithShippers {
 protected:
  const int syslog_port = free_port();

  void SetUp() override {
    flags.insert(flags.end(), {"--syslog", std::to_string(syslog_port), "--stall-after", "0s"});
    WithShippers::SetUp();
  }

  // Stops the server as an operator does, in the middle, and starts it again.
  void restart_in_the_middle() {
    EXPECT_TRUE(eventually([&] { return lines_held() > kShippedLines / 8; }));
    EXPECT_LT(lines_held(), kShippedLines);
    server->ask_to_stop();
    EXPECT_EQ(server->wait_for_end(), 0) << server->messages();
    begin();
  }

  // Waits for all lines, which are of one source.
  void await_all(int most = kShippedLines) {
    EXPECT_TRUE(eventually([&] { return lines_of_nccl() >= kShippedLines; })) << lines_of_nccl();
    EXPECT_LE(lines_of_nccl(), most);
  }

  int lines_of_nccl() {
    const boost::json::object sources = plain_get(*server, "/api/v1/sources?job=llama").json();
    const auto* rows = sources.if_contains("sources");
    if (rows == nullptr) return 0;  // there is no such job yet
    for (const boost::json::value& source : rows->as_array()) {
      if (!source.at("source").as_string().ends_with("/nccl")) continue;
      EXPECT_EQ(source.at("recognized"), source.at("lines"));
      EXPECT_NE(source.at("host").as_string(), "");
      return source.at("lines").to_number<int>();
    }
    return 0;
  }

  std::string summary_of(const std::string& job) {
    const boost::json::object diagnosis =
        plain_get(*server, "/api/v1/jobs/" + job + "/diagnosis").json();
    return serialize(diagnosis.at("verdict")) + serialize(diagnosis.at("summary"));
  }

  // The answer is the same as for the file itself.
  void expect_what_the_file_says() {
    EXPECT_EQ(
        curl(*server, "/api/v1/ingest?job=file&final=true", "--data-binary @" + file("in.log"))
            .status,
        200);
    EXPECT_THAT(summary_of("file"), HasSubstr("Process 1005 on node1 never entered"));
    EXPECT_EQ(summary_of("llama"), summary_of("file"));
  }
};

// What rsyslog sends to the server, with these settings of its action.
std::string rsyslog_config(const std::string& folder, const std::string& modules, int port,
                           const std::string& action) {
  return fmt::format(R"(
global(workDirectory="{0}")
module(load="{1}/imfile.so")
template(name="record" type="string" string="<%PRI%>1 %TIMESTAMP:::date-rfc3339% %HOSTNAME% %APP-NAME% %PROCID% %MSGID% [faultline@0 job=\"llama\"] %msg%\n")
input(type="imfile" file="{0}/in.log" tag="nccl:" ruleset="forward")
ruleset(name="forward") {{
  action(type="omfwd" target="127.0.0.1" port="{2}" {3})
}}
)",
                     folder, modules, port, action);
}

constexpr const char* kOverTcp =
    R"(protocol="tcp" tcp_framing="octet-counted" template="record" queue.type="linkedlist" queue.size="100000" )"
    R"(queue.dequeuebatchsize="500" queue.dequeueslowdown="10000" action.resumeRetryCount="-1" action.resumeInterval="1")";

TEST_F(SyslogDaemons, RsyslogSendsEachLineOnce) {
  workshop.write("in.log", shipped_calls());
  const auto rsyslog =
      start_rsyslog(rsyslog_config(workshop.folder(), rsyslog_modules(), syslog_port, kOverTcp));
  await_all();
  expect_what_the_file_says();
}

// When it connects again, rsyslog sends what it had buffered, and then its whole batch.
TEST_F(SyslogDaemons, RsyslogLosesNothingWhenTheServerIsRestarted) {
  constexpr int kBatch = 500;
  workshop.write("in.log", shipped_calls());
  const auto rsyslog =
      start_rsyslog(rsyslog_config(workshop.folder(), rsyslog_modules(), syslog_port, kOverTcp));
  restart_in_the_middle();
  await_all(kShippedLines + kBatch);
  expect_what_the_file_says();
}

// Its own default form, of RFC 3164, which names no job.
TEST_F(SyslogDaemons, RsyslogSendsDatagramsInItsDefaultForm) {
  constexpr int kLines = 200;
  std::string text;
  for (int i = 0; i < kLines; ++i) text += fmt::format("step {} took 1.5 s\n", i);
  workshop.write("in.log", text);
  const auto rsyslog = start_rsyslog(
      rsyslog_config(workshop.folder(), rsyslog_modules(), syslog_port, R"(protocol="udp")"));
  await(*server, "/api/v1/sources?job=unlabelled", [&](const Reply& reply) {
    return reply.body.find(fmt::format(R"("lines":{},)", kLines)) != std::string::npos;
  });
  EXPECT_THAT(plain_get(*server, "/api/v1/sources?job=unlabelled").body, HasSubstr("/nccl\""));
}

TEST_F(SyslogDaemons, SyslogNgSendsEachLineOnceAlsoIfTheServerIsRestarted) {
  workshop.write("in.log", shipped_calls());
  const auto syslog_ng = start_syslog_ng(fmt::format(R"conf(@version: 3.38
source s {{ file("{0}/in.log" flags(no-parse) program-override("nccl") log-iw-size(10000) log-fetch-limit(1000)); }};
rewrite r {{ set("llama" value(".SDATA.faultline@0.job")); }};
destination d {{ syslog("127.0.0.1" port({1}) transport("tcp") time-reopen(1)); }};
log {{ source(s); rewrite(r); destination(d); flags(flow-control); }};
)conf",
                                                     workshop.folder().string(), syslog_port));
  restart_in_the_middle();
  await_all();
  expect_what_the_file_says();
}

// RFC 3164, a message on each line.
TEST_F(SyslogDaemons, SyslogNgSendsLinesOfTheOlderForm) {
  workshop.write("in.log", shipped_calls());
  flags.insert(flags.end(), {"--job", "llama"});
  begin();
  const auto syslog_ng = start_syslog_ng(fmt::format(R"conf(@version: 3.38
source s {{ file("{0}/in.log" flags(no-parse) program-override("nccl") log-iw-size(10000) log-fetch-limit(1000)); }};
destination d {{ network("127.0.0.1" port({1}) transport("tcp")); }};
log {{ source(s); destination(d); flags(flow-control); }};
)conf",
                                                     workshop.folder().string(), syslog_port));
  await_all();
  expect_what_the_file_says();
}

}  // namespace
}  // namespace faultline
