// What the real server says about a host across its jobs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "curl.h"
#include "failing_host.h"
#include "server_process.h"

namespace faultline {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class HostsTest : public testing::Test {
 protected:
  void send(const std::string& job, const std::string& source, const std::string& text,
            const std::string& host = kFailingHost) {
    files.write("body", text);
    const Reply reply = curl(
        *server, "/api/v1/ingest?final=true&job=" + job + "&host=" + host + "&source=" + source,
        "--data-binary @" + (files.folder() / "body").string());
    ASSERT_EQ(reply.status, 200) << reply.body;
  }

  void fail(const std::string& job, const std::string& kernel_log) {
    send(job, "nccl.log", nccl_log());
    send(job, "dmesg", kernel_log);
  }

  json::object host(const std::string& query = "", const std::string& name = kFailingHost) {
    return plain_get(*server, "/api/v1/hosts/" + name + query).json();
  }

  json::object gpu_of(const json::object& host) {
    for (const json::value& gpu : host.at("gpus").as_array())
      if (gpu.at("gpu") == "0000:3b:00.0") return gpu.as_object();
    ADD_FAILURE() << json::serialize(host);
    return {};
  }

  json::object cause_of(const std::string& job) {
    const json::object diagnosis = plain_get(*server, "/api/v1/jobs/" + job + "/diagnosis").json();
    const json::array& causes = diagnosis.at("root_causes").as_array();
    EXPECT_FALSE(causes.empty()) << json::serialize(diagnosis);
    return causes.empty() ? json::object{} : causes[0].as_object();
  }

  void restart() {
    server->kill_now();
    server = std::make_unique<ServerProcess>(data.folder());
  }

  Workshop data;
  Workshop files;
  std::unique_ptr<ServerProcess> server = std::make_unique<ServerProcess>(data.folder());
};

std::vector<std::string> texts(const json::value& list, std::string_view member) {
  std::vector<std::string> texts;
  for (const json::value& element : list.as_array())
    texts.emplace_back(element.at(member).as_string());
  return texts;
}

TEST_F(HostsTest, AGpuThatFailedThreeJobsIsToldOfAndTheFourthJobHearsOfIt) {
  fail("llama-1", off_bus("2026-03-01"));
  fail("llama-2", off_bus("2026-03-05"));
  fail("llama-3", off_bus("2026-03-11"));

  const json::object gpu = gpu_of(host());
  EXPECT_THAT(texts(gpu.at("failures"), "job"), ElementsAre("llama-1", "llama-2", "llama-3"));
  EXPECT_THAT(texts(gpu.at("failures"), "class"),
              ElementsAre("gpu.off_bus", "gpu.off_bus", "gpu.off_bus"));
  EXPECT_EQ(gpu.at("failures").at(0).at("time"), "2026-03-01T02:46:59.120Z");
  const json::value& repeat = gpu.at("repeat");
  EXPECT_EQ(repeat.at("jobs").to_number<int>(), 3);
  EXPECT_EQ(repeat.at("days").to_number<int>(), 10);
  EXPECT_EQ(repeat.at("text"), "GPU 0000:3b:00.0 on gpu-node-3 failed three jobs in ten days");

  const json::object list = plain_get(*server, "/api/v1/hosts").json();
  ASSERT_EQ(list.at("hosts").as_array().size(), 1U);
  const json::value& row = list.at("hosts").at(0);
  EXPECT_EQ(row.at("host"), kFailingHost);
  EXPECT_EQ(row.at("job_count").to_number<int>(), 3);
  EXPECT_EQ(row.at("finding_counts").at("open").at("critical").to_number<int>(), 3);
  EXPECT_EQ(row.at("gpus").at(0).at("failed_jobs").to_number<int>(), 3);
  EXPECT_EQ(row.at("last_event"), "2026-03-11T02:46:59.120Z");

  fail("llama-4", off_bus("2026-03-12"));
  const json::object cause = cause_of("llama-4");
  EXPECT_EQ(cause.at("class"), "gpu.off_bus");
  EXPECT_THAT(texts(cause.at("evidence"), "source"), testing::Contains("job llama-3: dmesg"));
  EXPECT_THAT(json::serialize(cause.at("actions")), HasSubstr("failed 3 earlier jobs"));
  EXPECT_THAT(json::serialize(cause_of("llama-1")), Not(HasSubstr("earlier job")))
      << "what came later is no past";

  const std::string before = json::serialize(host());
  const std::string cause_before = json::serialize(cause);
  restart();
  EXPECT_EQ(json::serialize(host()), before);
  EXPECT_EQ(json::serialize(cause_of("llama-4")), cause_before);
}

TEST_F(HostsTest, APortThatFailedTwoJobsIsToldOf) {
  fail("a", readings("2026-03-01"));
  fail("b", readings("2026-03-05"));
  const json::object told = host();
  ASSERT_EQ(told.at("ports").as_array().size(), 1U) << json::serialize(told);
  const json::value& port = told.at("ports").at(0);
  EXPECT_EQ(port.at("port"), "mlx5_3:1");
  EXPECT_THAT(texts(port.at("failures"), "job"), ElementsAre("a", "b"));
  EXPECT_THAT(texts(port.at("failures"), "class"),
              ElementsAre("network.link_errors", "network.link_errors"));
  EXPECT_EQ(port.at("repeat").at("text"),
            "port mlx5_3:1 on gpu-node-3 failed two jobs in four days");
  EXPECT_THAT(told.at("failures").as_array(), IsEmpty());
}

TEST_F(HostsTest, WhatTheHostItselfFailedOfIsItsOwn) {
  fail("a", switch_fault("2026-03-01"));
  fail("b", switch_fault("2026-03-03"));
  const json::object told = host();
  EXPECT_THAT(texts(told.at("failures"), "job"), ElementsAre("a", "b"));
  EXPECT_EQ(told.at("repeat").at("text"), "host gpu-node-3 failed two jobs in two days");
}

TEST_F(HostsTest, AnEventThatTheLogsOfSeveralJobsTellOfIsOneFailure) {
  fail("a", off_bus("2026-03-01"));
  fail("b", off_bus("2026-03-01"));
  EXPECT_THAT(texts(gpu_of(host()).at("failures"), "job"), ElementsAre("a"));
  EXPECT_TRUE(gpu_of(host()).at("repeat").is_null());
  EXPECT_THAT(json::serialize(cause_of("b")), Not(HasSubstr("earlier job")));
  // This log goes back to the first event, and also has an event of its own.
  fail("c", off_bus("2026-03-01") + off_bus("2026-03-04"));
  EXPECT_THAT(texts(gpu_of(host()).at("failures"), "job"), ElementsAre("a", "c"));
  EXPECT_THAT(json::serialize(cause_of("c")), HasSubstr("failed 1 earlier job "));
}

TEST_F(HostsTest, WithoutClocksEqualLinesAreOneEvent) {
  const std::string line =
      "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off "
      "the bus.\n";
  fail("a", line);
  fail("b", line);
  EXPECT_THAT(texts(gpu_of(host()).at("failures"), "job"), ElementsAre("a"));
  EXPECT_THAT(json::serialize(cause_of("b")), Not(HasSubstr("earlier job")));
}

TEST_F(HostsTest, ProgramsThatFaultedOnAGpuAreNotCalledItsFailures) {
  fail("a", xid_line("2026-03-01", 31, "Ch 00000010, MMU Fault: ENGINE GRAPHICS"));
  EXPECT_TRUE(gpu_of(host()).at("repeat").is_null());
  fail("b", xid_line("2026-03-02", 31, "Ch 00000010, MMU Fault: ENGINE GRAPHICS"));
  EXPECT_EQ(gpu_of(host()).at("repeat").at("text"),
            "programs of two jobs faulted on GPU 0000:3b:00.0 on gpu-node-3 in one day");
}

TEST_F(HostsTest, AnotherBoardInTheSameSlotIsAnotherGpu) {
  const auto identity = [](const std::string& day, const std::string& uuid) {
    return day + "T02:46:59,110000+00:00 NVRM: GPU at PCI:0000:3b:00: GPU-" + uuid + "\n";
  };
  const std::string old_board = "11111111-aaaa-bbbb-cccc-000000000001";
  const std::string new_board = "22222222-aaaa-bbbb-cccc-000000000002";
  fail("a", identity("2026-03-01", old_board) + off_bus("2026-03-01"));
  fail("b", identity("2026-03-04", new_board) + off_bus("2026-03-04"));
  const json::object told = host();
  int boards = 0;
  for (const json::value& gpu : told.at("gpus").as_array()) {
    if (gpu.at("gpu") != "0000:3b:00.0") continue;
    ++boards;
    EXPECT_EQ(gpu.at("failures").as_array().size(), 1U) << json::serialize(gpu);
    EXPECT_TRUE(gpu.at("repeat").is_null());
  }
  EXPECT_EQ(boards, 2);
  EXPECT_THAT(json::serialize(cause_of("b")), Not(HasSubstr("earlier job")));
  fail("c", identity("2026-03-05", new_board) + off_bus("2026-03-05"));
  EXPECT_THAT(json::serialize(cause_of("c")), HasSubstr("failed 1 earlier job "));
}

TEST_F(HostsTest, EventsComeInPagesLatestFirst) {
  std::string log;
  for (int minute = 0; minute < 50; minute += 10)
    log += fmt::format(
        "2026-03-05T02:{:02}:00,000000+00:00 NVRM: Xid (PCI:0000:3b:00): 94, pid=1, name=x, "
        "Contained: CE User Channel (0x9)\n",
        minute);
  send("a", "dmesg", log);
  std::vector<std::string> times;
  std::string query = "?limit=2";
  for (int pages = 0; pages < 3; ++pages) {
    const json::object page = host(query);
    for (const std::string& time : texts(page.at("events"), "time")) times.push_back(time);
    EXPECT_EQ(page.at("next_cursor").is_null(), pages == 2);
    if (page.at("next_cursor").is_null()) break;
    query = "?limit=2&cursor=" + std::string(page.at("next_cursor").as_string());
  }
  EXPECT_THAT(times,
              ElementsAre("2026-03-05T02:40:00Z", "2026-03-05T02:30:00Z", "2026-03-05T02:20:00Z",
                          "2026-03-05T02:10:00Z", "2026-03-05T02:00:00Z"));
  const json::object page = host("?limit=1");
  const json::value& event = page.at("events").at(0);
  EXPECT_EQ(event.at("kind"), "gpu_xid");
  EXPECT_EQ(event.at("code").to_number<int>(), 94);
  EXPECT_EQ(event.at("class"), "gpu.ecc_uncorrectable");
  EXPECT_EQ(event.at("source"), "dmesg");
  EXPECT_EQ(event.at("line").to_number<int>(), 5);
  EXPECT_EQ(plain_get(*server, "/api/v1/hosts/gpu-node-3?cursor=MQ").status, 400);
}

TEST_F(HostsTest, AStormIsOneEvent) {
  std::string log;
  for (int second = 0; second < 60; ++second)
    log += fmt::format(
        "2026-03-05T02:00:{:02},000000+00:00 NVRM: Xid (PCI:0000:3b:00): 45, pid=1, name=x, Ch "
        "00000008\n",
        second);
  send("a", "dmesg", log);
  const json::object told = host();
  ASSERT_EQ(told.at("events").as_array().size(), 1U);
  EXPECT_EQ(told.at("events").at(0).at("count").to_number<int>(), 60);
  EXPECT_EQ(told.at("events").at(0).at("last_time"), "2026-03-05T02:00:59Z");
}

TEST_F(HostsTest, CountersThatMovedAreTracedAcrossJobs) {
  const auto snapshot = [](const std::string& hour, int symbol_errors) {
    return fmt::format(
        "root@gpu-node-3:~# date; perfquery -x 37 1\n"
        "Thu Mar  5 {}:47:11 UTC 2026\n"
        "# Port extended counters: Lid 37 port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)\n"
        "PortSelect:......................1\n"
        "CounterSelect:...................0x0000\n"
        "PortXmitData:....................48201943312384\n"
        "SymbolErrorCounter:..............{}\n"
        "LinkDownedCounter:...............2\n",
        hour, symbol_errors);
  };
  send("a", "perfquery", snapshot("02", 100));
  send("b", "perfquery", snapshot("04", 160));
  const json::object told = host();
  ASSERT_EQ(told.at("ports").as_array().size(), 1U) << json::serialize(told);
  const json::value& counters = told.at("ports").at(0).at("counters");
  ASSERT_THAT(texts(counters, "counter"), ElementsAre("SymbolErrorCounter"));
  const json::value& symbols = counters.at(0);
  EXPECT_EQ(symbols.at("class"), "network.link_errors");
  EXPECT_EQ(symbols.at("first").at("time"), "2026-03-05T02:47:11Z");
  EXPECT_EQ(symbols.at("last").at("value").to_number<int>(), 160);
  EXPECT_EQ(symbols.at("delta").to_number<int>(), 60);
  EXPECT_DOUBLE_EQ(symbols.at("rate_per_hour").to_number<double>(), 30);
}

TEST_F(HostsTest, TheListIsFilteredByJobAndGpuAndComesInPages) {
  send("a", "dmesg", off_bus("2026-03-01"));
  send("b", "other", off_bus("2026-03-01"), "gpu-node-4");
  send("b", "more", "nothing", "gpu-node-5");
  const auto hosts = [&](const std::string& query) {
    return texts(plain_get(*server, "/api/v1/hosts" + query).json().at("hosts"), "host");
  };
  EXPECT_THAT(hosts(""), ElementsAre("gpu-node-3", "gpu-node-4", "gpu-node-5"));
  EXPECT_THAT(hosts("?job=b"), ElementsAre("gpu-node-4", "gpu-node-5"));
  EXPECT_THAT(hosts("?gpu=3b:00.0"), ElementsAre("gpu-node-3", "gpu-node-4"));
  EXPECT_THAT(hosts("?gpu=gpu-node-4/0000:3b:00.0"), ElementsAre("gpu-node-4"));
  EXPECT_THAT(hosts("?gpu=GPU-none"), IsEmpty());
  const json::object first = plain_get(*server, "/api/v1/hosts?limit=2").json();
  EXPECT_THAT(texts(first.at("hosts"), "host"), ElementsAre("gpu-node-3", "gpu-node-4"));
  EXPECT_THAT(hosts("?limit=2&cursor=" + std::string(first.at("next_cursor").as_string())),
              ElementsAre("gpu-node-5"));
  EXPECT_EQ(plain_get(*server, "/api/v1/hosts?job=none").status, 404);
}

TEST_F(HostsTest, AnUnknownHostIsAProblemThatSaysWhatToDo) {
  const Reply reply = plain_get(*server, "/api/v1/hosts/nowhere");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.json().at("detail"),
            "no host is named \"nowhere\"; /api/v1/hosts lists those there are");
}

TEST_F(HostsTest, AHostOfWhichNothingIsKnownHasEmptyLists) {
  send("a", "log", "nothing to see here\n", "gpu-node-9");
  const json::object told = host("", "gpu-node-9");
  for (const char* list : {"findings", "gpus", "ports", "events"})
    EXPECT_THAT(told.at(list).as_array(), IsEmpty()) << list;
  EXPECT_EQ(told.at("jobs").as_array().size(), 1U);
}

}  // namespace
}  // namespace faultline
