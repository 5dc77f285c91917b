// Jobs that are only on the disk get the same answers as jobs in memory.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "curl.h"
#include "server_process.h"

namespace faultline {
namespace {

constexpr std::string_view kXid =
    "2026-11-22T10:00:00.000000+00:00 node-1 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=77, GPU "
    "has fallen off the bus.\n";

Reply post(const ServerProcess& server, const std::string& source, std::string_view text) {
  Workshop workshop;
  workshop.write("log", text);
  return curl(server, "/api/v1/ingest?job=j&source=" + source,
              "--data-binary @" + (workshop.folder() / "log").string());
}

std::string body_of(const ServerProcess& server, const std::string& path) {
  return plain_get(server, path).body;
}

bool rests(const ServerProcess& server) {
  return body_of(server, "/metrics").find("\nfaultline_jobs_in_memory 0\n") != std::string::npos;
}

void await_rest(const ServerProcess& server) {
  for (int i = 0; i < 100 && !rests(server); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_TRUE(rests(server));
}

struct Resting : testing::Test {
  Workshop workshop;
  ServerProcess server{workshop.folder(), {"--stall-after", "0s", "--rest-after", "0s"}};
};

TEST_F(Resting, AJobIsJudgedAsBefore) {
  ASSERT_EQ(post(server, "a", kXid).status, 200);
  const std::string diagnosis = body_of(server, "/api/v1/jobs/j/diagnosis");
  EXPECT_NE(diagnosis.find("fell off the bus"), std::string::npos);
  const std::string jobs = body_of(server, "/api/v1/jobs?sort=severity");
  const std::string host = body_of(server, "/api/v1/hosts/node-1");
  await_rest(server);
  EXPECT_EQ(body_of(server, "/api/v1/jobs?sort=severity"), jobs);
  EXPECT_EQ(body_of(server, "/api/v1/hosts/node-1"), host);
  EXPECT_TRUE(rests(server)) << "lists need no job to be read";
  EXPECT_EQ(body_of(server, "/api/v1/jobs/j/diagnosis"), diagnosis);
}

TEST_F(Resting, AJobGoesOnWhereItStood) {
  const std::string text(kXid);
  ASSERT_EQ(post(server, "a", text.substr(0, 60)).status, 200);
  await_rest(server);
  const auto receipt = post(server, "a", text).json();
  EXPECT_EQ(receipt.at("duplicate_bytes"), 60);
  EXPECT_NE(body_of(server, "/api/v1/jobs/j/diagnosis").find("fell off the bus"),
            std::string::npos);
  await_rest(server);
  EXPECT_EQ(curl(server, "/api/v1/jobs/j", "-X DELETE").status, 204);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/j/diagnosis").status, 404);
}

TEST_F(Resting, AFindingIsResolvedWhenTheJobEnds) {
  Workshop other;
  ServerProcess impatient(other.folder(),
                          {"--stall-after", "0s", "--rest-after", "0s", "--resolve-after", "3s"});
  ASSERT_EQ(post(impatient, "a", kXid).status, 200);
  const auto open = [&] { return body_of(impatient, "/api/v1/findings?state=open"); };
  EXPECT_NE(open().find("gpu.off_bus"), std::string::npos);
  await_rest(impatient);
  for (int i = 0; i < 100 && open().find("gpu.off_bus") != std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_EQ(open().find("gpu.off_bus"), std::string::npos);
}

}  // namespace
}  // namespace faultline
