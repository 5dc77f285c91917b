// Uploads to the real server with the real curl.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <thread>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr std::string_view kScenario = TESTS_DIR "/scenarios/gpu_off_bus/logs";

std::string scenario_file(const std::string& name) { return std::string(kScenario) + "/" + name; }

class Ingest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (workshop.folder() / name).string(); }

  boost::json::object sources() { return plain_get(server, "/api/v1/sources?job=j").json(); }

  Workshop workshop;
  ServerProcess server{workshop.folder()};
};

std::string lines(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += std::string(text) + " " + std::to_string(i) + "\n";
  return all;
}

TEST_F(Ingest, AnswersWithAReceiptOnceAllIsDurable) {
  const std::string log = scenario_file("gpu-node-6/nccl.log");
  const Reply reply =
      curl(server, "/api/v1/ingest?job=llama&host=gpu-node-6&source=gpu-node-6/nccl.log",
           "--data-binary @" + log);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto receipt = reply.json();
  const std::string text = read_file(log);
  EXPECT_EQ(receipt.at("job").as_string(), "llama");
  EXPECT_EQ(receipt.at("source").as_string(), "gpu-node-6/nccl.log");
  EXPECT_EQ(receipt.at("bytes").to_number<std::size_t>(), text.size());
  EXPECT_EQ(receipt.at("next_offset").to_number<std::size_t>(), text.size());
  EXPECT_EQ(receipt.at("lines").to_number<long>(), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(receipt.at("duplicate_bytes").to_number<int>(), 0);
  EXPECT_GT(receipt.at("events").to_number<int>(), 0);
  EXPECT_EQ(receipt.at("dialects").at("nccl"), receipt.at("recognized"));
  EXPECT_TRUE(receipt.contains("findings_opened"));
}

TEST_F(Ingest, NamesTheCauseOnceLogsAndDmesgAreIn) {
  for (int node = 0; node < 8; ++node) {
    const std::string host = "gpu-node-" + std::to_string(node);
    const Reply reply =
        curl(server, "/api/v1/ingest?job=llama&final=true&host=" + host + "&source=" + host,
             "-T " + scenario_file(host + "/nccl.log"));
    ASSERT_EQ(reply.status, 200) << reply.body;
  }
  const Reply dmesg =
      curl(server, "/api/v1/ingest?job=llama&final=true&host=gpu-node-3&source=dmesg",
           "-T " + scenario_file("gpu-node-3/dmesg.txt"));
  EXPECT_GT(dmesg.json().at("findings_opened").to_number<int>(), 0);

  const auto diagnosis = plain_get(server, "/api/v1/jobs/llama/diagnosis").json();
  EXPECT_EQ(diagnosis.at("root_causes").at(0).at("class").as_string(), "gpu.off_bus");
  const std::string finding(diagnosis.at("root_causes").at(0).at("finding").as_string());
  EXPECT_EQ(plain_get(server, "/api/v1/findings/" + finding).json().at("class").as_string(),
            "gpu.off_bus");
  const auto text = curl(server, "/api/v1/jobs/llama/diagnosis", "-H 'Accept: text/plain'");
  EXPECT_THAT(text.body, HasSubstr("gpu-node-3"));
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/diagnosis?format=text").body, text.body);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/diagnosis?format=pdf").status, 400);
  const auto drawn = curl(server, "/api/v1/jobs/llama/diagnosis",
                          "-H 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'");
  EXPECT_THAT(drawn.body, HasSubstr("<span class=\"cell "));
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/llama/diagnosis?format=markdown").body,
              HasSubstr("- [ ] "));
  EXPECT_FALSE(diagnosis.contains("explanation"));
  const auto explained = plain_get(server, "/api/v1/jobs/llama/diagnosis?explain=true").json();
  EXPECT_EQ(explained.at("explanation").at("findings").at(0).at("finding").as_string(), finding);
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/llama/diagnosis?format=text&explain=true").body,
              HasSubstr("How this answer came about"));
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/diagnosis?explain=maybe").status, 400);
  EXPECT_EQ(curl(server, "/api/v1/jobs/llama/diagnosis", "-H 'Accept: image/png'").status, 406);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/diagnosis?attempt=7").status, 404);

  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/ranks").json().at("ranks").as_array().size(),
            64U);
  const auto page = plain_get(server, "/api/v1/jobs/llama/ranks?limit=60").json();
  const std::string cursor(page.at("next_cursor").as_string());
  const auto rest = plain_get(server, "/api/v1/jobs/llama/ranks?limit=60&cursor=" + cursor).json();
  EXPECT_EQ(rest.at("ranks").as_array().size(), 4U);
  EXPECT_TRUE(rest.at("next_cursor").is_null());
  const auto brief = plain_get(server, "/api/v1/jobs/llama/ranks?brief=true&attempt=1").json();
  EXPECT_EQ(brief.at("ranks").as_array().size(), 64U);
  EXPECT_EQ(brief.at("ranks").at(27).at("state"), "behind");
  EXPECT_FALSE(brief.at("ranks").at(27).as_object().contains("standings"));
  const auto one = plain_get(server, "/api/v1/jobs/llama/ranks?rank=27").json();
  ASSERT_EQ(one.at("ranks").as_array().size(), 1U);
  EXPECT_EQ(one.at("ranks").at(0).at("host"), "gpu-node-3");
  EXPECT_FALSE(one.at("ranks").at(0).at("standings").as_array().empty());
  for (const char* query : {"brief=perhaps", "rank=-1", "rank=x", "attempt=0"})
    EXPECT_EQ(plain_get(server, std::string("/api/v1/jobs/llama/ranks?") + query).status, 400)
        << query;
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/ranks?attempt=7").status, 404);

  const auto times = plain_get(server, "/api/v1/jobs/llama/timeline?attempt=1").json();
  std::vector<std::string> rows;
  for (const auto& row : times.at("rows").as_array())
    rows.emplace_back(fmt::format("{} {}", std::string(row.at("kind").as_string()),
                                  std::string(row.at("name").as_string())));
  EXPECT_THAT(rows,
              testing::ElementsAre("host gpu-node-3", "rank rank 27", "others 63 other ranks"));
  EXPECT_EQ(times.at("rows").at(1).at("state"), "behind");
  EXPECT_THAT(std::string(times.at("rows").at(1).at("note").as_string()),
              HasSubstr("no line of it carries a date; last call "));
  EXPECT_TRUE(times.at("from").is_null() && times.at("last_line").is_null());
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/timeline?attempt=7").status, 404);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/timeline?rank=7").status, 400);

  const auto jobs = plain_get(server, "/api/v1/jobs").json();
  EXPECT_EQ(jobs.at("jobs").at(0).at("job").as_string(), "llama");
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama").json().at("sources").as_array().size(), 9U);
  const auto critical = plain_get(server, "/api/v1/jobs/llama/findings?severity=critical").json();
  for (const auto& row : critical.at("findings").as_array())
    EXPECT_EQ(row.at("severity").as_string(), "critical");
  EXPECT_FALSE(critical.at("findings").as_array().empty());
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/llama/findings?severity=loud").status, 400);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/nobody/findings").status, 404);
}

TEST_F(Ingest, ShowsWhatALiveStreamSaidWhileItStaysOpen) {
  std::FILE* stream =
      popen(("curl -sS -T - '" + server.url("/api/v1/ingest?job=j&host=n1&source=dmesg") + "' >" +
             file("receipt"))
                .c_str(),
            "w");
  const std::string xid =
      "[  812.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=40213, name=python3, GPU has fallen off "
      "the bus.\n";
  std::fputs(xid.c_str(), stream);
  std::fflush(stream);
  await(server, "/api/v1/jobs/j/diagnosis",
        [](const Reply& reply) { return reply.body.find("gpu.off_bus") != std::string::npos; });
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/j/diagnosis").json().at("verdict").as_string(),
            "undecided");
  EXPECT_EQ(sources().at("sources").at(0).at("next_offset").to_number<std::size_t>(), xid.size());
  EXPECT_EQ(read_file(file("receipt")), "") << "the stream is still open";

  std::fputs("half a line", stream);
  EXPECT_EQ(pclose(stream), 0);
  const auto receipt = boost::json::parse(read_file(file("receipt")));
  EXPECT_EQ(receipt.at("bytes").to_number<std::size_t>(), xid.size() + 11);
  EXPECT_EQ(receipt.at("lines").to_number<int>(), 2);
}

TEST_F(Ingest, ReadsCompressedBodiesToldOrNot) {
  workshop.write("log", lines("line", 20000));
  const std::string size = std::to_string(read_file(file("log")).size());
  struct Case {
    const char* why;
    const char* compress;
    const char* header;
  };
  const Case cases[] = {
      {"gzip, told", "gzip -c", "-H 'Content-Encoding: gzip'"},
      {"gzip, not told", "gzip -c", ""},
      {"zstd, told", "zstd -qc", "-H 'Content-Encoding: zstd'"},
      {"zstd, not told", "zstd -qc", ""},
  };
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Reply reply =
        curl(server, "/api/v1/ingest?job=j&source=s" + std::to_string(++number),
             std::string(c.header) + " -T -", std::string(c.compress) + " " + file("log") + " |");
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("\"bytes\":" + size + ",\"lines\":20000,"));
  }
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=j", "-H 'Content-Encoding: br' -d x").status, 415);
}

TEST_F(Ingest, KeepsWhatCameOfAGzipThatBreaksOff) {
  workshop.write("log", lines("line", 50000));
  workshop.make("gzip -c log > log.gz && head -c 60000 log.gz > torn.gz; : > out");
  const Reply torn = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("torn.gz"));
  EXPECT_EQ(torn.status, 400);
  const auto held = torn.json().at("next_offset").to_number<std::size_t>();
  EXPECT_GT(held, 0U);
  EXPECT_EQ(sources().at("sources").at(0).at("next_offset").to_number<std::size_t>(), held);

  const auto whole = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("log.gz")).json();
  EXPECT_EQ(whole.at("duplicate_bytes").to_number<std::size_t>(), held);
  EXPECT_EQ(sources().at("sources").at(0).at("lines").to_number<int>(), 50000);
}

// The address sanitizer keeps up to 256 MB of freed memory and puts red zones around the rest; the
// thread sanitizer keeps several shadow words for each word.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kLittleMemoryKib = 1200U << 10;
#else
constexpr std::size_t kLittleMemoryKib = 300U << 10;
#endif

TEST_F(Ingest, RefusesABombWithLittleMemory) {
  workshop.make("head -c 1G /dev/zero | zstd -q -19 --long=24 -c > bomb.zst; : > out");
  const Reply reply = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("bomb.zst"));
  EXPECT_EQ(reply.status, 413) << reply.body;
  EXPECT_EQ(plain_get(server, "/healthz").status, 200);
  EXPECT_LT(server.peak_kib(), kLittleMemoryKib);
}

// Each line means something, and the whole body comes in one piece.
TEST_F(Ingest, RefusesABombOfErrorsWithLittleMemoryAndLittleDisk) {
  workshop.make(
      "yes \"RuntimeError: $(head -c 1000 /dev/zero | tr '\\0' x)\" | head -c 160M | gzip -1 | "
      "gzip -9 > bomb.gz; : > out");
  const Reply reply = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("bomb.gz"));
  EXPECT_EQ(reply.status, 413) << reply.body;
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=other&source=s", "--data-binary hello").status, 200);
  EXPECT_LT(server.peak_kib(), kLittleMemoryKib);
  EXPECT_LT(server.database_bytes(), 32U << 20);
}

// These lines are kept one by one, but a few bytes may not unpack to any number of them.
TEST_F(Ingest, RefusesABodyThatTellsOfMoreEventsThanItsSizeAllows) {
  const std::string hung =
      "[   12.345678] INFO: task python:123 blocked for more than 120 seconds.";
  for (const std::string& line : {hung, std::string("symbol_error: 4"),
                                  std::string("srun: error: gpu-8: tasks 0-4095: Terminated")}) {
    workshop.make("yes '" + line + "' | head -c 20M | gzip -1 | gzip -9 > bomb.gz; : > out");
    const Reply reply = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("bomb.gz"));
    EXPECT_EQ(reply.status, 413) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("events; no real log does this"));
  }
  EXPECT_LT(server.peak_kib(), kLittleMemoryKib);
  EXPECT_LT(server.database_bytes(), 128U << 20);
  // All of them are accepted if the body is not compressed, or if it has as few lines as a real
  // sender may have.
  workshop.make("yes '" + hung +
                "' | head -n 150000 > log; seq 60000 | sed 's/.*/[&.5] INFO: task "
                "python:123 blocked for more than 120 seconds./' | gzip > log.gz");
  const Reply plain = curl(server, "/api/v1/ingest?job=k&source=s", "-T " + file("log"));
  EXPECT_THAT(plain.body, HasSubstr(R"("events":150000)"));
  const Reply packed = curl(server, "/api/v1/ingest?job=k&source=t", "-T " + file("log.gz"));
  EXPECT_THAT(packed.body, HasSubstr(R"("events":60000)"));
}

TEST_F(Ingest, TakesEqualLinesForNewBeyondThoseThatItHolds) {
  workshop.make(
      "yes '[   12.345678] INFO: task a:1 blocked for more than 120 seconds.' | "
      "head -n 30000 > once; cat once once once > thrice");
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("once")).status, 200);
  const auto grown = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("thrice")).json();
  EXPECT_EQ(grown.at("lines").to_number<int>(), 60000);
  const auto again = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("thrice")).json();
  EXPECT_EQ(again.at("lines").to_number<int>(), 0);
  EXPECT_EQ(again.at("next_offset"), grown.at("next_offset"));
}

TEST_F(Ingest, SkipsALineOf100MegabytesWithLittleMemory) {
  const Reply reply =
      curl(server, "/api/v1/ingest?job=j&source=s", "-T -",
           "(echo before; head -c 100M /dev/zero | tr '\\0' x; echo; echo after) |");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr(R"("lines":3)"));
  EXPECT_THAT(reply.body, HasSubstr(R"("skipped_lines":1)"));
  const Reply again =
      curl(server, "/api/v1/ingest?job=j&source=s", "-T -",
           "(echo before; head -c 100M /dev/zero | tr '\\0' x; echo; echo after) |");
  EXPECT_THAT(again.body, HasSubstr(R"("lines":0)"));
  EXPECT_LT(server.peak_kib(), kLittleMemoryKib);
}

TEST_F(Ingest, TakesNulBytesAndLinesNobodyKnows) {
  workshop.write("binary", std::string("a\0b\n\0\0\0\n", 8) + "hello\r\nworld");
  const auto receipt = curl(server, "/api/v1/ingest?job=j&source=s", "-T " + file("binary")).json();
  EXPECT_EQ(receipt.at("lines").to_number<int>(), 4);
  EXPECT_EQ(receipt.at("recognized").to_number<int>(), 0);
  EXPECT_EQ(receipt.at("skipped_lines").to_number<int>(), 2);
  const Reply empty = curl(server, "/api/v1/ingest?job=j&source=e", "--data-binary ''");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.json().at("bytes").to_number<int>(), 0);
}

TEST_F(Ingest, ChangesNothingWhenTheSameIsSentAgain) {
  workshop.write("log", lines("line", 100000) + "torn");
  const std::string upload = "-T " + file("log");
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=j&source=s", upload).status, 200);
  const std::string before = plain_get(server, "/api/v1/sources?job=j").body;
  const auto again = curl(server, "/api/v1/ingest?job=j&source=s", upload).json();
  EXPECT_EQ(again.at("lines").to_number<int>(), 0);
  EXPECT_EQ(again.at("duplicate_bytes"), again.at("bytes"));
  EXPECT_EQ(plain_get(server, "/api/v1/sources?job=j").body, before);

  workshop.write("log", read_file(file("log")) + " line ends\n" + lines("new", 10));
  const auto grown = curl(server, "/api/v1/ingest?job=j&source=s", upload).json();
  EXPECT_EQ(grown.at("duplicate_bytes"), again.at("bytes"));
  EXPECT_EQ(sources().at("sources").at(0).at("lines").to_number<int>(), 100011);
}

TEST_F(Ingest, ResumesAtAnOffsetAndRefusesAGap) {
  const std::string path = "/api/v1/ingest?job=j&source=s&offset=";
  EXPECT_EQ(curl(server, path + "0", "--data-binary 'one\ntwo\n'").json().at("next_offset"), 8);
  const auto overlap = curl(server, path + "4", "--data-binary 'two\nthree\n'").json();
  EXPECT_EQ(overlap.at("duplicate_bytes"), 4);
  EXPECT_EQ(overlap.at("lines"), 1);
  EXPECT_EQ(overlap.at("next_offset"), 14);
  const Reply gap = curl(server, path + "15", "--data-binary 'five\n'");
  EXPECT_EQ(gap.status, 409);
  EXPECT_EQ(gap.json().at("next_offset"), 14);
  EXPECT_EQ(curl(server, path + "0", "-F f=@" + scenario_file("gpu-node-3/dmesg.txt")).status, 400);
}

TEST_F(Ingest, TakesSeveralFilesAtOnce) {
  workshop.write("a.log", "one\n");
  workshop.write("b.log", "two\nthree\n");
  workshop.make("gzip -kf b.log; tar cf both.tar a.log b.log; : > out");
  const auto form = curl(server, "/api/v1/ingest?job=j&source=up",
                         "-F f=@" + file("a.log") + " -F f=@" + file("b.log.gz"))
                        .json();
  ASSERT_EQ(form.at("files").as_array().size(), 2U);
  EXPECT_EQ(form.at("lines"), 3);
  EXPECT_EQ(form.at("files").at(0).at("source").as_string(), "up/a.log");
  EXPECT_EQ(form.at("files").at(1).at("source").as_string(), "up/b.log.gz");
  const auto tar = curl(server, "/api/v1/ingest?job=j&source=tar", "-T " + file("both.tar")).json();
  ASSERT_EQ(tar.at("files").as_array().size(), 2U);
  EXPECT_EQ(tar.at("files").at(1).at("source").as_string(), "tar/b.log");
  EXPECT_EQ(
      curl(server, "/api/v1/ingest?job=j&source=tar&offset=0", "-T " + file("both.tar")).status,
      400);
  const auto held = sources();
  for (const auto& row : held.at("sources").as_array())
    EXPECT_NE(row.at("source").as_string(), "tar") << "nothing of the refused archive may stay";
}

TEST_F(Ingest, SaysInReceiptAndSourcesWhyADumpWasNotRead) {
  workshop.write("nccl_trace_rank_3", std::string("\x80\x02", 2) + "cos\nsystem\n(X\x02" +
                                          std::string(3, '\0') + "lstR.");
  const std::string ingest = "/api/v1/ingest?job=j&final=true&source=";
  const Reply refused =
      curl(server, ingest + "nccl_trace_rank_3", "--data-binary @" + file("nccl_trace_rank_3"));
  ASSERT_EQ(refused.status, 200) << refused.body;
  const auto reasons = refused.json().at("refused").as_array();
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_THAT(std::string(reasons[0].as_string()), HasSubstr("names code to run (GLOBAL)"));
  EXPECT_EQ(refused.json().at("recognized").to_number<int>(), 0);

  const Reply good =
      curl(server, ingest + "nccl_trace_rank_4",
           "--data-binary @" TESTS_DIR "/fixtures/flight_recorder/torch_v2.10.pickle");
  ASSERT_EQ(good.status, 200) << good.body;
  EXPECT_TRUE(good.json().at("refused").as_array().empty());

  const auto known = sources().at("sources").as_array();
  ASSERT_EQ(known.size(), 2U);
  ASSERT_EQ(known[0].at("refused").as_array().size(), 1U);
  EXPECT_EQ(known[0].at("refused").as_array()[0], reasons[0]);
  EXPECT_TRUE(known[1].at("refused").as_array().empty());
  const std::string diagnosis = plain_get(server, "/api/v1/jobs/j/diagnosis?format=text").body;
  EXPECT_THAT(diagnosis, HasSubstr("missing: the contents of nccl_trace_rank_3: not read: it "
                                   "names code to run (GLOBAL)"));
}

TEST_F(Ingest, SaysOfEachFileOfSeveralWhyItWasNotRead) {
  workshop.write("a", std::string("\x80\x02", 2) + "(ios\nsystem\n.");
  workshop.write("b", "{\"entries\": [{\"record_id\": 1}], \"version\": \"2.4\", \"pg_config");
  const Reply reply = curl(server, "/api/v1/ingest?job=j&source=dumps",
                           "-F a=@" + file("a") + " -F b=@" + file("b"));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto files = reply.json().at("files").as_array();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_THAT(std::string(files[0].at("refused").as_array().at(0).as_string()),
              HasSubstr("names code to run (INST)"));
  EXPECT_THAT(std::string(reply.json().at("refused").as_array().at(0).as_string()),
              testing::StartsWith("dumps/a: it names code"));
}

TEST_F(Ingest, GivesASourceToTheNewerOfTwoSenders) {
  const std::string head =
      "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: ";
  RawClient older(server.port());
  older.say(head + "1000\r\n\r\nfrom the older\nhalf");
  await(server, "/api/v1/sources?job=j", [](const Reply& reply) { return reply.status == 200; });
  RawClient newer(server.port());
  newer.say(head + "15\r\n\r\nfrom the newer\n");
  EXPECT_THAT(newer.hear(), HasSubstr("\"next_offset\":30"));
  EXPECT_THAT(older.hear(), testing::StartsWith("HTTP/1.1 409"));
}

TEST_F(Ingest, GivesEachOfTwoUnnamedSendersASourceOfItsOwn) {
  const std::string request =
      "PUT /api/v1/ingest?job=j&host=n1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n";
  RawClient first(server.port());
  first.say(request + "one\n");
  // The receipt of the first sender would come only after its body, so the test looks at the name
  // that the second one gets.
  await(server, "/metrics", [](const Reply& reply) {
    return reply.body.find("faultline_streams_open 1") != std::string::npos;
  });
  RawClient second(server.port());
  second.say(request + "1\n2\n3\n4\n");
  EXPECT_THAT(second.hear(), HasSubstr("\"source\":\"n1/127.0.0.1#2\""));
  first.say("two\n");
  EXPECT_THAT(first.hear(), HasSubstr("\"source\":\"n1/127.0.0.1\""));
}

TEST_F(Ingest, KnowsFilesAgainWhicheverOfTheUnnamedSendersBringsThem) {
  workshop.write("a", lines("file a", 1000));
  workshop.write("b", lines("file b", 2000));
  const std::string path = "/api/v1/ingest?job=j&host=n1";
  {
    RawClient slow(server.port());
    slow.say("PUT " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
             std::to_string(read_file(file("a")).size()) + "\r\n\r\nfile a 0\n");
    await(server, "/metrics", [](const Reply& reply) {
      return reply.body.find("faultline_streams_open 1") != std::string::npos;
    });
    EXPECT_THAT(curl(server, path, "-T " + file("b")).body, HasSubstr("127.0.0.1#2"));
    slow.say(read_file(file("a")).substr(9));
    EXPECT_THAT(slow.hear(), HasSubstr("\"lines\":1000"));
  }
  const std::string before = plain_get(server, "/api/v1/sources?job=j").body;
  for (const char* name : {"b", "a"})
    EXPECT_THAT(curl(server, path, "-T " + file(name)).body, HasSubstr("\"lines\":0"));
  EXPECT_EQ(plain_get(server, "/api/v1/sources?job=j").body, before);
}

TEST_F(Ingest, NamesTheParameterThatIsWrong) {
  struct Case {
    const char* query;
    const char* says;
  };
  const Case cases[] = {
      {"", "?job=NAME"},
      {"job=", "job is empty"},
      {"job=a%00b", "job must be printable"},
      {"job=j&rank=first", "rank must be a whole number"},
      {"job=j&offset=-1", "offset must be a whole number"},
      {"job=j&final=maybe", "final must be true or false"},
      {"job=j&boot_time=yesterday", "boot_time is not a time"},
      {"job=j&hots=n1", "unknown query parameter \\\"hots\\\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.query);
    const Reply reply = curl(server, std::string("/api/v1/ingest?") + c.query, "-d x");
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr(c.says));
  }
}

TEST_F(Ingest, KeepsTheWholeLinesOfASenderThatVanishes) {
  {
    RawClient client(server.port());
    client.say(
        "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        "99\r\n\r\n"
        "whole\nhal");
  }
  const Reply held = await(server, "/api/v1/sources?job=j",
                           [](const Reply& reply) { return reply.status == 200; });
  EXPECT_EQ(held.json().at("sources").at(0).at("next_offset"), 6);
}

TEST_F(Ingest, HasCleanMetrics) {
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=j&source=dmesg&final=true",
                 "-T " + scenario_file("gpu-node-3/dmesg.txt"))
                .status,
            200);
  ASSERT_EQ(plain_get(server, "/nowhere").status, 404);
  const Reply metrics = plain_get(server, "/metrics");
  for (const char* sample :
       {"faultline_http_requests_total{route=\"/api/v1/ingest\",method=\"PUT\",status=\"2xx\"} 1\n",
        "faultline_http_requests_total{route=\"(none)\",method=\"-\",status=\"4xx\"} 1\n",
        "faultline_ingest_dialect_lines_total{dialect=\"kernel\"}", "faultline_jobs 1\n",
        "faultline_findings_open{class=", "faultline_build_info{version="})
    EXPECT_THAT(metrics.body, HasSubstr(sample));
  workshop.write("metrics", metrics.body);
  int exit = -1;
  const std::string complaints =
      output_of("promtool check metrics < " + file("metrics") + " 2>&1", &exit);
  EXPECT_EQ(exit, 0) << complaints;
  EXPECT_EQ(complaints, "");
}

}  // namespace
}  // namespace faultline
