// Nobody keeps all threads that answer or read.
#include "http/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "eventually.h"
#include "http/offload.h"
#include "http/threads.h"

namespace faultline {
namespace {

namespace asio = boost::asio;

enum class Pool { parsing, answering };

asio::awaitable<void> run_in_its_turn(Threads& threads, Pool pool, Turns::Claim claim,
                                      std::function<void()> call) {
  Seat seat = pool == Pool::parsing ? threads.parsing(claim.job, claim.peer)
                                    : threads.answering(claim.job, claim.peer);
  co_await offload(std::move(seat), call);
}

// Costly calls that end when the test says so; their number is more than there are threads.
class BusyServer {
 public:
  static constexpr int kCostly = 100;

  explicit BusyServer(Pool pool) : pool_(pool) {}
  ~BusyServer() {
    let_go_.set_value();
    if (io_.joinable()) io_.join();
    EXPECT_EQ(ended_, kCostly) << "each has had its turn";
  }

  void costly(Turns::Claim claim) {
    spawn(std::move(claim), [this] {
      may_go_.wait();
      ++ended_;
    });
  }
  // Whether a call that takes no time is done while the costly ones are not.
  bool answers(Turns::Claim claim) {
    const auto is_done = std::make_shared<std::atomic<bool>>(false);
    spawn(std::move(claim), [is_done] { *is_done = true; });
    if (!io_.joinable()) io_ = std::thread([this] { context_.run(); });
    return eventually([&] { return is_done->load(); });
  }

 private:
  void spawn(Turns::Claim claim, std::function<void()> call) {
    asio::co_spawn(context_, run_in_its_turn(threads_, pool_, std::move(claim), std::move(call)),
                   asio::detached);
  }

  Pool pool_;
  Threads threads_;
  asio::io_context context_;
  std::thread io_;
  std::promise<void> let_go_;
  std::shared_future<void> may_go_ = let_go_.get_future().share();
  std::atomic<int> ended_ = 0;
};

std::string nth_job(int i) { return "job-" + std::to_string(i); }

TEST(Turns, OfOnePeerLeaveThreadsToOthers) {
  for (const Pool pool : {Pool::answering, Pool::parsing}) {
    BusyServer server(pool);
    for (int i = 0; i < BusyServer::kCostly; ++i) server.costly({nth_job(i), "10.0.0.1"});
    EXPECT_TRUE(server.answers({"small", "10.0.0.2"}));
  }
}

TEST(Turns, OfOneJobLeaveThreadsToOthers) {
  for (const Pool pool : {Pool::answering, Pool::parsing}) {
    BusyServer server(pool);
    for (int i = 0; i < BusyServer::kCostly; ++i)
      server.costly({"large", "10.0.0." + std::to_string(i)});
    EXPECT_TRUE(server.answers({"small", "10.0.1.1"}));
  }
}

// All clients behind a proxy are one peer.
TEST(Turns, WaitingForASlowJobTakesNothingFromItsPeer) {
  BusyServer server(Pool::answering);
  for (int i = 0; i < BusyServer::kCostly; ++i) server.costly({"slow", "10.0.0.1"});
  EXPECT_TRUE(server.answers({"quick", "10.0.0.1"}));
}

TEST(Turns, AnsweringOneJobAreNeverTwoAtOnce) {
  Threads threads;
  asio::io_context context;
  int running = 0;  // a race, if two were
  int most = 0;
  for (int i = 0; i < 200; ++i)
    asio::co_spawn(
        context,
        run_in_its_turn(threads, Pool::answering, {"one", "10.0.0." + std::to_string(i % 7)},
                        [&] {
                          most = std::max(most, ++running);
                          std::this_thread::yield();
                          --running;
                        }),
        asio::detached);
  context.run();
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace faultline
