// A real server with less memory than its jobs would take together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "curl.h"
#include "eventually.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr int kJobs = 5;
constexpr int kHosts = 6000;

// Each line names another host, which takes 3 KB.
std::string kernel_log() {
  std::string log;
  for (int host = 0; host < kHosts; ++host)
    log += fmt::format(
        "2026-11-22T10:00:00.000000+00:00 node-{} kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=77, "
        "GPU has fallen off the bus.\n",
        host);
  return log;
}

struct Memory : testing::Test {
  Memory() {
    workshop.write("large", kernel_log());
    workshop.write("small",
                   "2026-11-22T10:00:00.000000+00:00 other kernel: NVRM: Xid (PCI:0000:1b:00): 79, "
                   "pid=77, GPU has fallen off the bus.\n");
  }

  Reply post(const ServerProcess& server, const std::string& job, const std::string& log) {
    return curl(server, "/api/v1/ingest?job=" + job,
                "--data-binary @" + (workshop.folder() / log).string());
  }

  // As a sender or a reader does that is told to come again.
  template <class Ask>
  Reply until_there_is_memory(Ask&& ask) {
    Reply reply;
    EXPECT_TRUE(eventually([&] {
      reply = ask();
      if (reply.status != 503) return true;
      EXPECT_THAT(reply.body, HasSubstr("--memory"));
      EXPECT_EQ(post(*server, "small", "small").status, 200);
      return false;
    }));
    return reply;
  }

  void start() {
    server.reset();
    server = std::make_unique<ServerProcess>(
        workshop.folder(),
        std::vector<std::string>{"--stall-after", "0s", "--memory", fmt::to_string(kBudget)});
  }

  static constexpr std::size_t kBudget = std::size_t{64} << 20;

  Workshop workshop;
  std::unique_ptr<ServerProcess> server;
};

TEST_F(Memory, OfAllJobsTogetherHasALimitAndEachIsAnsweredRightly) {
  start();
  const auto job = [](int number) { return "large-" + std::to_string(number); };
  for (int number = 0; number < kJobs; ++number)
    EXPECT_EQ(until_there_is_memory([&] { return post(*server, job(number), "large"); }).status,
              200);
  for (int life = 0; life < 2; ++life) {
    for (int number = 0; number < kJobs; ++number) {
      const Reply told =
          until_there_is_memory([&] { return plain_get(*server, "/api/v1/jobs/" + job(number)); });
      ASSERT_EQ(told.status, 200) << told.body;
      EXPECT_EQ(told.json().at("verdict"), "failed");
      EXPECT_EQ(told.json().at("hosts").as_array().size(), kHosts);
      EXPECT_EQ(post(*server, "small", "small").status, 200);
      EXPECT_EQ(plain_get(*server, "/readyz").status, 200);
    }
    const std::string metrics = plain_get(*server, "/metrics").body;
    EXPECT_THAT(metrics, HasSubstr(fmt::format("faultline_memory_budget_bytes {}\n", kBudget)));
    EXPECT_THAT(metrics, Not(HasSubstr("faultline_jobs_rested_for_memory_total 0\n")));
    EXPECT_THAT(server->messages(), HasSubstr("event=memory-lacks"));
    EXPECT_LT(server->peak_kib() * 1024, 3 * kBudget);
    start();
  }
}

}  // namespace
}  // namespace faultline
