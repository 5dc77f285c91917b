// Debian's own log shippers, which send a log to a server, and the log.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "curl.h"
#include "real_program.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {

inline constexpr int kShippedCalls = 2'500;
inline constexpr int kShippedRanks = 8;
// What shipped_calls() has.
inline constexpr int kShippedLines = kShippedCalls * kShippedRanks;

// The calls of a job of eight ranks. Rank 5 stops ten calls before the others.
inline std::string shipped_calls() {
  std::string text;
  for (int call = 0; call < kShippedCalls + 10; ++call)
    for (int rank = 0; rank < kShippedRanks; ++rank) {
      if (call >= (rank == 5 ? kShippedCalls - 70 : kShippedCalls + 10)) continue;
      text += fmt::format(
          "node{}:{}:{} [{}] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f0e4fb06000 recvbuff "
          "0x7f0e4fb06000 count {} datatype 7 op 0 root 0 comm 0x55d0632500{} [nranks=8] stream "
          "0x55e0b2f43d90\n",
          rank / 4, 1000 + rank, 2000 + rank, rank % 4, call, 1 + call % 7, rank);
    }
  return text;
}

class WithShippers : public testing::Test {
 protected:
  // Where ./dev test unpacks their packages.
  const std::string tools = TESTS_DIR "/../build/tools/shippers";
  Workshop workshop;
  const int port = free_port();
  std::vector<std::string> flags{"--listen", "127.0.0.1:" + std::to_string(port)};
  std::unique_ptr<ServerProcess> server;

  void SetUp() override {
    if (!std::filesystem::exists(tools))
      GTEST_SKIP() << "no rsyslog, syslog-ng or systemd-journal-upload here; ./dev test fetches "
                      "them";
    begin();
  }

  std::string file(const std::string& name) { return (workshop.folder() / name).string(); }

  void begin() {
    server.reset();
    server = std::make_unique<ServerProcess>(workshop.folder(), flags);
  }

  // The program with the libraries of the packages.
  std::vector<std::string> with_libraries(std::vector<std::string> words) {
    words[0] = tools + words[0];
    words.insert(words.begin(),
                 {"/usr/bin/env", "LD_LIBRARY_PATH=" + tools +
                                      "/usr/lib/x86_64-linux-gnu:" + tools + "/usr/lib/syslog-ng"});
    return words;
  }

  std::string rsyslog_modules() const { return tools + "/usr/lib/x86_64-linux-gnu/rsyslog"; }

  std::unique_ptr<RealProgram> start_rsyslog(const std::string& config) {
    workshop.write("rsyslog.conf", config);
    return std::make_unique<RealProgram>(
        file("rsyslog.log"),
        with_libraries({"/usr/sbin/rsyslogd", "-n", "-f", file("rsyslog.conf"), "-i",
                        file("rsyslog.pid"), "-M", rsyslog_modules()}),
        port);
  }

  std::unique_ptr<RealProgram> start_syslog_ng(const std::string& config) {
    workshop.write("syslog-ng.conf", config);
    return std::make_unique<RealProgram>(
        file("syslog-ng.log"),
        with_libraries({"/usr/sbin/syslog-ng", "-F", "-f", file("syslog-ng.conf"),
                        "--persist-file=" + file("persist"), "--pidfile=" + file("syslog-ng.pid"),
                        "--control=" + file("control"),
                        "--module-path=" + tools + "/usr/lib/syslog-ng/3.38", "--no-caps"}),
        port);
  }

  int lines_held() {
    int lines = 0;
    const boost::json::object sources = plain_get(*server, "/api/v1/sources?job=llama").json();
    if (const auto* rows = sources.if_contains("sources"))
      for (const boost::json::value& source : rows->as_array())
        lines += source.at("lines").to_number<int>();
    return lines;
  }
};

}  // namespace faultline
