// Delivery of the outbox to receivers that answer, fail, hang or lie.
#include "alerts/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "alerts/messages.h"
#include "alerts/routing.h"
#include "fake_receiver.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

Timestamp now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Finding finding(const std::string& id, std::vector<std::string> explains = {}) {
  return {.id = id,
          .cause = Cause::gpu_off_bus,
          .title = "GPU fell off the bus",
          .severity = Severity::critical,
          .confidence = 0.98,
          .subject = {.hosts = {"gpu-node-3"}},
          .explains = std::move(explains)};
}

class DeliveryTest : public testing::Test {
 protected:
  // Sends everything at once, and retries at once.
  static Receiver quick(ReceiverType type, const std::string& url) {
    Receiver receiver = default_receiver(type);
    receiver.name = "r" + std::to_string(static_cast<int>(type));
    receiver.url = url;
    receiver.allow_private = true;
    receiver.hold = receiver.group_wait = receiver.group_interval = 0ms;
    receiver.retry_max = 100ms;
    receiver.timeout = 1s;
    return receiver;
  }

  void start(const std::vector<Receiver>& receivers) {
    store.set_routing(
        {.route = [receivers](const AlertSubject& subject) { return route(receivers, subject); },
         .keep = 0ms});
    delivery = std::make_unique<AlertDelivery>(
        store, DeliveryOptions{.receivers = receivers, .clock = now});
    store.on_change([this] { delivery->wake(); });
    delivery->start({.url = "http://faultline"});
  }

  // Ids that end in s are symptoms.
  void find(const std::vector<Finding>& found, int attempt = 1) {
    Standing standing;
    for (const Finding& one : found)
      (one.id.ends_with('s') ? standing.symptoms : standing.causes).insert(one.id);
    store.reconcile_findings("llama", attempt, found, now(), standing);
  }

  std::uint64_t waiting(const std::string& receiver) {
    std::uint64_t rows = 0;
    for (const WaitingGroup& group : store.waiting_groups(receiver)) rows += group.rows;
    return rows;
  }
  bool await_delivered(const std::string& receiver) {
    for (int tries = 0; tries < 1000 && waiting(receiver) > 0; ++tries)
      std::this_thread::sleep_for(10ms);
    return waiting(receiver) == 0;
  }

  Workshop workshop;
  Store store{workshop.folder() / "f.db"};
  std::unique_ptr<AlertDelivery> delivery;
};

TEST_F(DeliveryTest, TellsAWebhookOfAFindingAndOfItsEnd) {
  FakeReceiver hook;
  Receiver receiver = quick(ReceiverType::webhook, hook.url());
  receiver.bearer = "t0ken";
  receiver.secret = "s3cret";
  start({receiver});
  find({finding("fa", {"fs"}), finding("fs")});
  ASSERT_TRUE(hook.await(1));
  ASSERT_TRUE(await_delivered(receiver.name));
  find({});
  ASSERT_TRUE(hook.await(2));
  const auto heard = hook.heard();
  EXPECT_THAT(heard[0].head, StartsWith("POST /hook HTTP/1.1\r\n"));
  EXPECT_THAT(heard[0].head, HasSubstr("Authorization: Bearer t0ken\r\n"));
  EXPECT_THAT(heard[0].head, HasSubstr("X-Faultline-Delivery: r1-1\r\n"));
  const std::size_t at = heard[0].head.find("X-Faultline-Signature: ") + 23;
  const std::string signature = heard[0].head.substr(at, heard[0].head.find('\r', at) - at);
  const Timestamp signed_at{std::chrono::seconds{std::stoll(signature.substr(2))}};
  EXPECT_EQ(signature, signature_of("s3cret", heard[0].body, signed_at));
  EXPECT_EQ(heard[0].json().at("status"), "firing");
  EXPECT_EQ(heard[0].json().at("alerts").as_array().size(), 1U) << "symptoms do not page";
  EXPECT_EQ(heard[1].json().at("status"), "resolved");
}

TEST_F(DeliveryTest, TellsOfOneIncidentInOneMessage) {
  FakeReceiver hook;
  Receiver receiver = quick(ReceiverType::webhook, hook.url());
  receiver.group_wait = 200ms;
  start({receiver});
  find({finding("fa", {"fs"}), finding("fb", {"fs"}), finding("fs")});
  ASSERT_TRUE(hook.await(1));
  ASSERT_TRUE(await_delivered(receiver.name));
  std::this_thread::sleep_for(300ms);
  ASSERT_EQ(hook.heard().size(), 1U);
  EXPECT_EQ(hook.heard()[0].json().at("alerts").as_array().size(), 2U);
}

TEST_F(DeliveryTest, TriesAgainUntilItIsAcceptedAndThenNeverAgain) {
  FakeReceiver hook(FakeReceiver::answer("500 Internal Server Error"));
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(3));
  hook.behave(FakeReceiver::answer("200 OK"));
  ASSERT_TRUE(await_delivered("r1"));
  const std::size_t count = hook.heard().size();
  std::this_thread::sleep_for(500ms);
  const auto heard = hook.heard();
  EXPECT_EQ(heard.size(), count);
  for (const auto& message : heard)
    EXPECT_THAT(message.head, HasSubstr("X-Faultline-Delivery: r1-1\r\n")) << "one and the same";
}

TEST_F(DeliveryTest, GivesUpWhatTheReceiverRefusesForGood) {
  FakeReceiver hook(FakeReceiver::answer("400 Bad Request", "", "no such thing"));
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(await_delivered("r1"));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(hook.heard().size(), 1U);
  Exposition out;
  delivery->write(out);
  EXPECT_THAT(out.take(),
              HasSubstr("faultline_alert_messages_total{receiver=\"r1\",outcome=\"refused\"} 1\n"));
}

TEST_F(DeliveryTest, WaitsAsLongAsTheReceiverAsks) {
  FakeReceiver hook(FakeReceiver::answer("429 Too Many Requests", "Retry-After: 2\r\n"));
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(1));
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(hook.await(2));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 1900ms);
}

TEST_F(DeliveryTest, DoesNotWaitLongForOneThatHangs) {
  std::atomic<bool> stop{false};
  FakeReceiver hook([&](int) {
    while (!stop) std::this_thread::sleep_for(10ms);
  });
  FakeReceiver other;
  Receiver second = quick(ReceiverType::webhook, other.url());
  second.name = "second";
  start({quick(ReceiverType::webhook, hook.url()), second});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(1));
  EXPECT_TRUE(other.await(1)) << "the other is told all the same";
  // Writing to the store meanwhile does not wait.
  const auto began = std::chrono::steady_clock::now();
  find({finding("fa"), finding("fb")});
  EXPECT_LT(std::chrono::steady_clock::now() - began, 900ms);
  stop = true;
  hook.behave(FakeReceiver::answer("200 OK"));
  EXPECT_TRUE(await_delivered("r1"));
}

TEST_F(DeliveryTest, OutlivesOneThatHangsUp) {
  FakeReceiver hook([](int) {});
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(2));
  hook.behave(FakeReceiver::answer("204 No Content"));
  EXPECT_TRUE(await_delivered("r1"));
}

TEST_F(DeliveryTest, OutlivesOneThatAnswersNonsense) {
  FakeReceiver hook(
      [](int socket) { FakeReceiver::say(socket, std::string(1 << 20, '\xff') + "\r\n\r\n"); });
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(2));
  hook.behave(FakeReceiver::answer("200 OK"));
  EXPECT_TRUE(await_delivered("r1"));
}

TEST_F(DeliveryTest, ReadsARefusalThatEndsWithTheConnection) {
  FakeReceiver hook([](int socket) {
    FakeReceiver::say(socket, "HTTP/1.1 503 Later\r\nConnection: close\r\n\r\nwe are full");
  });
  EXPECT_EQ(try_receiver(quick(ReceiverType::webhook, hook.url()), "http://faultline", now()),
            "answers 503: we are full");
}

// A fixed bug: after half of a chunk header it read nothing more and asked its parser for ever.
TEST_F(DeliveryTest, ReadsARefusalWhosePiecesAreAnnouncedByHalf) {
  const std::string head = "HTTP/1.1 503 Later\r\nTransfer-Encoding: chunked\r\n\r\n";
  FakeReceiver breaks_off([&](int socket) { FakeReceiver::say(socket, head + "8443/serv"); });
  EXPECT_EQ(try_receiver(quick(ReceiverType::webhook, breaks_off.url()), "http://faultline", now()),
            "answers 503");
  FakeReceiver goes_on([&](int socket) {
    FakeReceiver::say(socket, head + "1");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    FakeReceiver::say(socket, "1\r\nwe are full today\r\n0\r\n\r\n");
  });
  EXPECT_EQ(try_receiver(quick(ReceiverType::webhook, goes_on.url()), "http://faultline", now()),
            "answers 503: we are full today");
}

TEST_F(DeliveryTest, FollowsNoRedirect) {
  FakeReceiver elsewhere;
  FakeReceiver hook(
      FakeReceiver::answer("302 Found", "Location: " + elsewhere.url("/admin") + "\r\n"));
  start({quick(ReceiverType::webhook, hook.url())});
  find({finding("fa")});
  ASSERT_TRUE(hook.await(3));
  EXPECT_TRUE(elsewhere.heard().empty());
  EXPECT_EQ(waiting("r1"), 1U);
}

TEST_F(DeliveryTest, ReadsLittleOfAnAnswerThatDoesNotEnd) {
  for (const char* status : {"200 OK", "500 Internal Server Error"}) {
    SCOPED_TRACE(status);
    std::atomic<std::size_t> sent{0};
    FakeReceiver hook([&, status](int socket) {
      FakeReceiver::say(
          socket, "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 104857600\r\n\r\n");
      const std::string piece(1 << 20, 'x');
      for (int i = 0; i < 100 && FakeReceiver::say(socket, piece); ++i) sent += piece.size();
    });
    Workshop own;
    Store store_of_its_own(own.folder() / "f.db");
    const Receiver receiver = quick(ReceiverType::webhook, hook.url());
    const std::string why = try_receiver(receiver, "http://faultline", now());
    EXPECT_EQ(why.empty(), std::string_view(status) == "200 OK") << why;
    EXPECT_LT(why.size(), 300U);
    EXPECT_LT(sent, 16U << 20) << "what fits into the sockets' buffers, and no more";
  }
}

TEST_F(DeliveryTest, RefusesAPrivateAddressUnlessItIsAllowed) {
  FakeReceiver hook;
  Receiver receiver = quick(ReceiverType::webhook, hook.url());
  receiver.allow_private = false;
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()),
              HasSubstr("127.0.0.1 is a private address; set allow_private = true"));
  receiver.url = "http://localhost:" + std::to_string(hook.port());
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()), HasSubstr("private address"));
  EXPECT_TRUE(hook.heard().empty());
}

TEST_F(DeliveryTest, SaysWhyAReceiverIsNotReached) {
  int port = 0;
  {
    FakeReceiver gone;
    port = gone.port();
  }
  const Receiver receiver =
      quick(ReceiverType::webhook, "http://127.0.0.1:" + std::to_string(port));
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()), HasSubstr("Connection refused"));
}

TEST_F(DeliveryTest, TrustsACertificateOnlyFromWhomItIsToldTo) {
  workshop.make(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-keyout key.pem -out cert.pem -subj /CN=localhost -addext "
      "subjectAltName=DNS:localhost >/dev/null && touch out");
  const std::string folder = workshop.folder().string();
  int port = 0;
  {
    FakeReceiver free_port;
    port = free_port.port();
  }
  const std::string command =
      "cd '" + folder + "' && (timeout 60 openssl s_server -accept " + std::to_string(port) +
      " -cert cert.pem -key key.pem -www >/dev/null 2>&1 & echo $! >pid) && sleep 1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  Receiver receiver =
      quick(ReceiverType::webhook, "https://localhost:" + std::to_string(port) + "/");
  receiver.timeout = 5s;
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()),
              HasSubstr("certificate verify failed"));
  receiver.ca_file = folder + "/cert.pem";
  const std::string trusted = try_receiver(receiver, "http://faultline", now());
  EXPECT_THAT(trusted, testing::Not(HasSubstr("TLS"))) << "s_server answers no POST, but it greets";
  receiver.url = "https://127.0.0.1:" + std::to_string(port) + "/";
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()),
              HasSubstr("certificate verify failed"))
      << "the name is not in it";
  std::ifstream pid_file(folder + "/pid");
  pid_t pid = 0;
  pid_file >> pid;
  if (pid > 1) kill(pid, SIGKILL);
}

TEST_F(DeliveryTest, RunsACommandWithTheMessageOnItsInput) {
  const std::string folder = workshop.folder().string();
  Receiver receiver = quick(ReceiverType::command, "");
  receiver.command = {"sh", "-c",
                      "cat >'" + folder +
                          "/said' && echo \"$FAULTLINE_STATUS $FAULTLINE_GROUP\" "
                          ">>'" +
                          folder + "/status'"};
  start({receiver});
  find({finding("fa")});
  ASSERT_TRUE(await_delivered(receiver.name));
  EXPECT_EQ(read_file(folder + "/status"), "firing ifa\n");
  EXPECT_EQ(boost::json::parse(read_file(folder + "/said")).at("version"), "4");
}

TEST_F(DeliveryTest, EndsACommandThatDoesNot) {
  Receiver receiver = quick(ReceiverType::command, "");
  receiver.timeout = 200ms;
  receiver.command = {"sleep", "1000"};
  EXPECT_EQ(try_receiver(receiver, "http://faultline", now()), "did not end within 200 ms");
  receiver.command = {"false"};
  EXPECT_EQ(try_receiver(receiver, "http://faultline", now()), "ended with 1");
  receiver.command = {"/nowhere/pager"};
  EXPECT_THAT(try_receiver(receiver, "http://faultline", now()), HasSubstr("No such file"));
}

TEST_F(DeliveryTest, EndsACommandThatRunsWhenItEndsItself) {
  const std::string file = (workshop.folder() / "pid").string();
  Receiver receiver = quick(ReceiverType::command, "");
  receiver.timeout = 60s;
  receiver.command = {
      "sh", "-c",
      "echo $$ >'" + file + ".new'; mv '" + file + ".new' '" + file + "'; exec sleep 1000"};
  start({receiver});
  find({finding("fa")});
  for (int tries = 0; tries < 1000 && !fs::exists(file); ++tries) std::this_thread::sleep_for(10ms);
  const pid_t pid = std::stoi(read_file(file));
  EXPECT_EQ(kill(pid, 0), 0);
  delivery.reset();
  EXPECT_NE(kill(pid, 0), 0) << "it is neither there nor waits to be reaped";
}

// A receiver that changes gets its next message after the current one has ended, and no other
// receiver waits.
TEST_F(DeliveryTest, TellsAReceiverThatChangesOneMessageAtATime) {
  const std::string folder = workshop.folder().string();
  Receiver changes = quick(ReceiverType::command, "");
  changes.timeout = 20s;
  changes.command = {"sh", "-c",
                     "mkdir '" + folder + "/busy' || touch '" + folder + "/twice'; echo x >>'" +
                         folder + "/told'; sleep 1; rmdir '" + folder + "/busy'"};
  start({changes});
  find({finding("fa")});
  for (int tries = 0; tries < 1000 && !fs::exists(folder + "/told"); ++tries)
    std::this_thread::sleep_for(10ms);
  FakeReceiver other;
  const Receiver added = quick(ReceiverType::webhook, other.url());
  for (int i = 0; i < 5; ++i) {
    changes.resend += 1ms;
    delivery->replace({added});  // gone, and back
    delivery->replace({changes, added});
  }
  store.set_routing(
      {.route = [&](const AlertSubject& subject) { return route({changes, added}, subject); },
       .keep = 0ms});
  find({finding("fa"), finding("fb")});
  EXPECT_TRUE(other.await(1, 900ms)) << "it waited for the other one";
  EXPECT_TRUE(await_delivered(changes.name));
  EXPECT_FALSE(fs::exists(folder + "/twice"));
  EXPECT_EQ(read_file(folder + "/told"), "x\nx\n") << "of fa, and of fb";
}

TEST_F(DeliveryTest, TellsAlertmanagerAgainWhatFiresAndForAWhileWhatEnded) {
  FakeReceiver alertmanager;
  Receiver receiver = quick(ReceiverType::alertmanager, alertmanager.url(""));
  receiver.resend = 200ms;
  start({receiver});
  find({finding("fa", {"fs"}), finding("fs")});
  ASSERT_TRUE(alertmanager.await(4));
  const auto heard = alertmanager.heard();
  EXPECT_THAT(heard[0].head, StartsWith("POST /api/v2/alerts HTTP/1.1\r\n"));
  const auto first = boost::json::parse(heard[0].body).as_array();
  const auto second = boost::json::parse(heard[1].body).as_array();
  ASSERT_EQ(first.size(), 1U) << "symptoms come after what inhibits them";
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(first[0].at("labels").at("role"), "cause");
  EXPECT_EQ(second[0].at("labels").at("role"), "symptom");
  EXPECT_EQ(first[0].at("labels").at("incident"), second[0].at("labels").at("incident"));
  const auto later = boost::json::parse(heard[2].body).as_array();
  EXPECT_EQ(later[0].at("labels"), first[0].at("labels"));
  EXPECT_GT(later[0].at("endsAt").as_string(), first[0].at("endsAt").as_string());
  find({});
  ASSERT_TRUE(await_delivered(receiver.name));
  const std::size_t count = alertmanager.heard().size();
  ASSERT_TRUE(alertmanager.await(count + 2));
  const auto all = alertmanager.heard();
  for (std::size_t i = all.size() - 2; i < all.size(); ++i) {
    const auto ended = boost::json::parse(all[i].body).as_array();
    ASSERT_EQ(ended.size(), 1U);
    EXPECT_LT(*parse_rfc3339(std::string(ended[0].at("endsAt").as_string())), now());
  }
}

TEST_F(DeliveryTest, TellsWhatARunBeforeDidNotGetToTell) {
  int port = 0;
  {
    FakeReceiver gone;
    port = gone.port();
  }
  Receiver receiver = quick(ReceiverType::webhook, "http://127.0.0.1:" + std::to_string(port));
  start({receiver});
  find({finding("fa")});
  std::this_thread::sleep_for(300ms);
  delivery->stop();
  EXPECT_EQ(waiting(receiver.name), 1U);
  FakeReceiver hook;
  receiver.url = hook.url();
  start({receiver});
  ASSERT_TRUE(await_delivered(receiver.name));
  EXPECT_EQ(hook.heard().size(), 1U);
}

}  // namespace
}  // namespace faultline
