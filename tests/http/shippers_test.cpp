// Debian's own log shippers, unchanged, send to the real server, which is killed meanwhile: each
// line is there once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <thread>

#include "curl.h"
#include "eventually.h"
#include "shippers.h"

namespace faultline {
namespace {

class Shippers : public WithShippers {
 protected:
  // Kills the server in the middle, and waits for all lines.
  void kill_and_await_all() {
    EXPECT_TRUE(eventually([&] { return lines_held() > kShippedLines / 4; }));
    server->kill_now();
    begin();
    EXPECT_TRUE(eventually([&] { return lines_held() >= kShippedLines; })) << lines_held();
    EXPECT_EQ(lines_held(), kShippedLines);
    const boost::json::object source =
        plain_get(*server, "/api/v1/sources?job=llama").json().at("sources").at(0).as_object();
    EXPECT_EQ(source.at("recognized").to_number<int>(), kShippedLines);
    EXPECT_NE(source.at("host").as_string(), "");
  }
};

// With its default size, rsyslog's queue drops lines while the server is down.
TEST_F(Shippers, RsyslogSendsEachLineOnceToTheDoorOfElasticsearch) {
  workshop.write("in.log", shipped_calls());
  const auto rsyslog =
      start_rsyslog(fmt::format(R"(
global(workDirectory="{0}")
module(load="{1}/imfile.so")
module(load="{1}/omelasticsearch.so")
template(name="record" type="list" option.jsonf="on") {{
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="path" name="$!metadata!filename" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
  constant(outname="job" value="llama" format="jsonf")
}}
input(type="imfile" file="{0}/in.log" tag="nccl" addMetadata="on")
action(type="omelasticsearch" server="127.0.0.1" serverport="{2}" template="record" bulkmode="on"
       queue.type="linkedlist" queue.size="100000" queue.dequeuebatchsize="500" queue.dequeueslowdown="10000"
       action.resumeRetryCount="-1" action.resumeInterval="1")
)",
                                workshop.folder().string(), rsyslog_modules(), port));
  kill_and_await_all();
}

TEST_F(Shippers, SyslogNgSendsEachLineOnceAsJson) {
  workshop.write("in.log", shipped_calls());
  const auto syslog_ng = start_syslog_ng(fmt::format(R"conf(@version: 3.38
source s {{ file("{0}/in.log" flags(no-parse) log-iw-size(10000) log-fetch-limit(1000)); }};
destination d {{
  http(url("http://127.0.0.1:{1}/api/v1/ingest/json?job=llama") method("POST")
       headers("Content-Type: application/x-ndjson") delimiter("\n") workers(1)
       body("$(format-json --scope none time=$ISODATE host=$HOST path={0}/in.log message=$MESSAGE)")
       batch-lines(500) batch-timeout(300) retries(1000) time-reopen(1));
}};
log {{ source(s); destination(d); flags(flow-control); }};
)conf",
                                                     workshop.folder().string(), port));
  kill_and_await_all();
}

// systemd-journal-upload ends when the server does. Its unit starts it again.
TEST_F(Shippers, TheJournalIsUploadedOnceAlsoIfTheServerIsKilled) {
  constexpr int kRecords = 5'000;
  std::string records;
  const std::string ids =
      "_BOOT_ID=7e0f3c5ea8f04b4fa2b4a7e3a1a0c111\n_MACHINE_ID=7e0f3c5ea8f04b4fa2b4a7e3a1a0c112\n"
      "_HOSTNAME=gpu-7\n_TRANSPORT=kernel\nSYSLOG_IDENTIFIER=kernel\n";
  for (int i = 0; i < kRecords; ++i)
    records += fmt::format(
        "__REALTIME_TIMESTAMP={}\n__MONOTONIC_TIMESTAMP={}\n{}MESSAGE=NVRM: Xid "
        "(PCI:0000:3b:00): 31, pid={}, name=python, Ch 00000008, intr 00000000. MMU Fault\n\n",
        1'772'679'449'000'000 + i * 1'000, 1'000'000 + i * 1'000, ids, 1'000 + i);
  workshop.write("records", records);
  const auto run = [&](const std::string& program, const std::string& arguments) {
    return std::system(("LD_LIBRARY_PATH='" + tools + "/usr/lib/x86_64-linux-gnu' timeout 60 '" +
                        tools + program + "' " + arguments + " >" + file("said") + " 2>&1")
                           .c_str());
  };
  ASSERT_EQ(run("/lib/systemd/systemd-journal-remote",
                "-o " + file("x.journal") + " - <" + file("records")),
            0)
      << read_file(file("said"));
  const std::string upload = "--url=http://127.0.0.1:" + std::to_string(port) +
                             "/journal/llama --follow=no --save-state=" + file("state") +
                             " --file=" + file("x.journal");
  std::thread killer([&] {
    EXPECT_TRUE(eventually([&] { return lines_held() > 0; }));
    server->kill_now();
  });
  const int first = run("/lib/systemd/systemd-journal-upload", upload);
  killer.join();
  begin();
  EXPECT_EQ(run("/lib/systemd/systemd-journal-upload", upload), 0) << read_file(file("said"));
  const boost::json::object sources = plain_get(*server, "/api/v1/sources?job=llama").json();
  ASSERT_EQ(sources.at("sources").as_array().size(), 1U);
  // If all had gone out before the kill, the program sends its last record again.
  const int recognized = sources.at("sources").at(0).at("recognized").to_number<int>();
  EXPECT_EQ(recognized, first == 0 ? kRecords + 1 : kRecords);
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/llama").json().at("hosts").as_array().size(), 1U);
}

}  // namespace
}  // namespace faultline
