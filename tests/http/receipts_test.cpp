// Bodies that are wrapped, packed or no logs at all, sent with the real curl: the counts of the
// receipts are right, and the receipt says what was not read and what to do about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "curl.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr int kLines = 12;

std::string line_of(int i) {
  return "gpu-node-6:1742:1742 [0] NCCL INFO AllReduce: opCount " + std::to_string(i) +
         " sendbuff 0x7f0000000000 recvbuff 0x7f0000000100 count 1024 datatype 7 op 0 root 0 comm "
         "0x55d0c8a0 [nranks=8] stream 0x55d0";
}

std::string log_text() {
  std::string text;
  for (int i = 0; i < kLines; ++i) text += line_of(i) + "\n";
  return text;
}

// Each line as a shipper would write it: BEFORE, line, AFTER.
std::string records(const std::string& before, const std::string& after) {
  std::string text;
  for (int i = 0; i < kLines; ++i) text += before + line_of(i) + after + "\n";
  return text;
}

std::string list(const std::string& between, const std::string& indent) {
  std::string text = "[" + indent;
  for (int i = 0; i < kLines; ++i)
    text += (i > 0 ? between : "") + "{" + indent + "\"@timestamp\": \"2026-03-05T02:47:11Z\"," +
            indent + "\"message\": \"" + line_of(i) + "\"" + indent + "}";
  return text + indent + "]\n";
}

struct Body {
  const char* why;
  std::string make;  // a shell command that writes "body"; empty: `text` is the body
  std::string text;
  std::string flags = "--data-binary @body";
  int lines = -1;      // -1: any number
  int recognized = 0;  // -1: any number
  std::string hint;    // a part of the hint; empty: there is no hint
};

std::vector<Body> bodies() {
  const std::string at = R"("2026-03-05T02:47:11.123Z")";
  const std::string zeros(64, '\0');
  return {
      {"plain", "", log_text(), "--data-binary @body", kLines, kLines, ""},
      {"Vector", "",
       records(R"({"file":"/x","host":"n7","message":")", R"(","timestamp":)" + at + "}"),
       "--data-binary @body", kLines, kLines, ""},
      {"Fluent Bit", "", records(R"({"date":1772678831.123,"log":")", R"("})"),
       "--data-binary @body", kLines, kLines, ""},
      {"Filebeat", "",
       records(R"({"@timestamp":)" + at + R"(,"log":{"offset":1},"message":")",
               R"(","host":{"name":"n7"}})"),
       "--data-binary @body", kLines, kLines, ""},
      {"Logstash", "",
       records(R"({"@version":"1","message":")", R"(","@timestamp":)" + at + R"(,"host":"n7"})"),
       "--data-binary @body", kLines, kLines, ""},
      {"Splunk's events", "", records(R"({"time":1772678831,"host":"n7","event":")", R"("})"),
       "--data-binary @body", kLines, kLines, ""},
      {"Splunk's events on one line", "",
       R"({"event":")" + line_of(1) + R"("}{"event":")" + line_of(2) + "\"}\n",
       "--data-binary @body", 1, 1, ""},
      {"Google Cloud Logging", "", records(R"({"textPayload":")", R"(","timestamp":)" + at + "}"),
       "--data-binary @body", kLines, kLines, ""},
      {"OpenTelemetry", "", records(R"({"body":{"stringValue":")", R"("}})"), "--data-binary @body",
       kLines, kLines, ""},
      {"Docker", "", records(R"({"log":")", R"(\n","stream":"stdout","time":)" + at + "}"),
       "--data-binary @body", kLines, kLines, ""},
      {"a journal as JSON", "",
       records(R"({"MESSAGE":")",
               R"(","_HOSTNAME":"n7","__REALTIME_TIMESTAMP":"1772678831123000"})"),
       "--data-binary @body", kLines, kLines, ""},
      {"a JSON list", "", list(",", ""), "--data-binary @body", kLines, kLines, ""},
      {"a JSON list over many lines", "", list(", ", "\n  "), "--data-binary @body", kLines, kLines,
       ""},
      {"JSON without lines", "", "{\"level\":\"info\",\"step\":7}\n{\"level\":\"info\"}\n",
       "--data-binary @body", 2, 0, "no field holds a log line (looked for message, log, msg"},
      {"a JSON list without lines", "", "[\n  {\n    \"step\": 7\n  }\n]\n", "--data-binary @body",
       5, 0, "no field holds a log line"},
      {"JSON whose lines nobody knows", "", "{\"message\":\"a\"}\n{\"message\":\"b\"}\n",
       "--data-binary @body", 2, 0, "Not one of 2 lines"},
      {"gzip", "gzip -c log > body", "", "--data-binary @body", kLines, kLines, ""},
      {"xz", "xz -c log > body", "", "--data-binary @body", kLines, kLines, ""},
      {"xz, said in the header", "xz -c log > body", "",
       "--data-binary @body -H 'Content-Encoding: xz'", kLines, kLines, ""},
      {"bzip2", "bzip2 -c log > body", "", "--data-binary @body", kLines, kLines, ""},
      {"bzip2, said in the header", "bzip2 -c log > body", "",
       "--data-binary @body -H 'Content-Encoding: bzip2'", kLines, kLines, ""},
      {"zip", "zip -q - log > body", "", "--data-binary @body", kLines, kLines, ""},
      {"a zip of two files", "cp log log2 && zip -q body.zip log log2 && mv body.zip body", "",
       "--data-binary @body", 2 * kLines, 2 * kLines, ""},
      {"an encrypted zip", "zip -q -P secret body.zip log && mv body.zip body", "",
       "--data-binary @body", 0, 0, "It is encrypted in its zip archive"},
      {"a PDF in a zip", "printf '%%PDF-1.4 x' > a.pdf && zip -q - a.pdf log > body", "",
       "--data-binary @body", kLines, kLines, "a.pdf: This is a PDF"},
      {"a PDF and a log in a form", "", "%PDF-1.7\n", "-F a=@body -F b=@log", kLines, kLines,
       "s/body: This is a PDF"},
      {"tar.xz", "tar -cJf body log", "", "--data-binary @body", kLines, kLines, ""},
      {"UTF-16", "iconv -t UTF-16 log > body", "", "--data-binary @body", kLines, kLines, ""},
      {"UTF-16 without its mark", "iconv -t UTF-16LE log > body", "", "--data-binary @body", kLines,
       kLines, ""},
      {"7z", "", "7z\xbc\xaf\x27\x1c" + zeros, "--data-binary @body", 0, 0,
       "This is 7z, which Faultline cannot read; unpack it"},
      {"RAR", "", "Rar!\x1a\7\1" + zeros, "--data-binary @body", 0, 0, "This is RAR"},
      {"a PDF", "", "%PDF-1.7\n1 0 obj\nNCCL INFO\n", "--data-binary @body", 0, 0,
       "This is a PDF; "},
      {"a core dump that holds log lines", "",
       "\177ELF\2\1\1" + zeros.substr(0, 9) + "\4" + zeros.substr(0, 45) + "\n" + log_text(),
       "--data-binary @body", 0, 0, "This is a core dump; "},
      {"a program", "cp /bin/true body", "", "--data-binary @body", 0, 0,
       "This is a program or a library"},
      {"a picture", "", "\x89PNG\r\n\x1a\n" + zeros, "--data-binary @body", 0, 0,
       "This is a PNG picture"},
      {"an SQLite database", "", "SQLite format 3" + zeros, "--data-binary @body", 0, 0,
       "This is an SQLite database"},
      {"a journal of systemd", "", "LPKSHHRH" + zeros, "--data-binary @body", 0, 0,
       "journalctl --file FILE -o export"},
      {"packets", "", "\xd4\xc3\xb2\xa1" + zeros, "--data-binary @body", 0, 0, "tcpdump -n -r"},
      {"other binary data", "", "GARB" + zeros + "\n" + zeros, "--data-binary @body", 2, 0,
       "binary data of an unknown form"},
      {"an HTML page", "", "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n",
       "--data-binary @body", 2, 0, "This is an HTML page"},
      {"newlines stripped", "cp log body", "", "-d @body", 1, 1,
       "holds 12 log lines: curl -d strips newlines"},
      {"a kernel's newlines stripped",
       "for i in 1 2 3; do echo \"[   12.34567$i] usb 1-$i: new device\"; done > body", "",
       "-d @body", 1, -1, "holds 3 log lines: curl -d strips newlines"},
      {"percent-encoded", "cp log body", "", "--data-urlencode @body", 1, 0,
       "percent-encoded like a web form"},
      {"base64", "base64 log > body", "", "--data-binary @body", -1, 0, "This is base64"},
      {"the name of a file", "cp log body", "", "-d nccl.log", 1, 0,
       "curl --data-binary @nccl.log"},
      {"nothing", "", "", "--data-binary @body", 0, 0, "The body is empty"},
      {"lines that end in carriage returns", "tr '\\n' '\\r' < log > body", "",
       "--data-binary @body", 1, 1, "holds 12 log lines"},
      {"text that nobody knows", "", "one\ntwo\nthree\n", "--data-binary @body", 3, 0,
       "Not one of 3 lines has a known form"},
  };
}

std::uint64_t number(const boost::json::object& receipt, const char* name) {
  return receipt.at(name).to_number<std::uint64_t>();
}

// What must hold for every receipt and for the sum of several.
void expect_counts_that_hold(const boost::json::object& receipt) {
  const std::uint64_t lines = number(receipt, "lines");
  EXPECT_LE(number(receipt, "recognized") + number(receipt, "skipped_lines"), lines);
  EXPECT_LE(lines, number(receipt, "bytes"));
  std::uint64_t of_dialects = 0;
  for (const auto& dialect : receipt.at("dialects").as_object())
    of_dialects += dialect.value().to_number<std::uint64_t>();
  EXPECT_EQ(of_dialects, number(receipt, "recognized"));
  EXPECT_EQ(number(receipt, "duplicate_bytes"), 0U);
  if (receipt.contains("next_offset")) {
    EXPECT_EQ(number(receipt, "next_offset"), lines == 0 ? 0 : number(receipt, "bytes"));
  }
}

std::string hints_of(const boost::json::object& receipt) {
  std::string hints;
  for (const auto& hint : receipt.at("hints").as_array()) hints += hint.as_string().c_str();
  return hints;
}

TEST(Receipts, TellTheTruthOfBodiesThatAreWrappedOrNoLogs) {
  Workshop workshop;
  Workshop home;
  const ServerProcess server{home.folder()};
  int number_of_case = 0;
  for (const Body& body : bodies()) {
    SCOPED_TRACE(body.why);
    workshop.write("log", log_text());
    workshop.write("body", body.text);
    if (!body.make.empty()) workshop.make(body.make);
    const Reply reply =
        curl(server, "/api/v1/ingest?source=s&job=j" + std::to_string(++number_of_case), body.flags,
             "cd " + workshop.folder().string() + " &&");
    ASSERT_EQ(reply.status, 200) << reply.body;
    const boost::json::object receipt = reply.json();
    SCOPED_TRACE(reply.body);
    expect_counts_that_hold(receipt);
    if (receipt.contains("files"))
      for (const auto& file : receipt.at("files").as_array())
        expect_counts_that_hold(file.as_object());
    if (body.lines >= 0) {
      EXPECT_EQ(number(receipt, "lines"), body.lines);
    }
    if (body.recognized >= 0) {
      EXPECT_EQ(number(receipt, "recognized"), body.recognized);
    }
    EXPECT_THAT(hints_of(receipt), HasSubstr(body.hint));
    EXPECT_EQ(hints_of(receipt).empty(), body.hint.empty());
  }
  EXPECT_GE(number_of_case, 40);
}

TEST(Receipts, OfWhatCannotBeReadNothingIsKept) {
  Workshop workshop;
  Workshop home;
  const ServerProcess server{home.folder()};
  workshop.write("pdf", "%PDF-1.7\n");
  workshop.write("log", log_text());
  const std::string folder = workshop.folder().string();
  const std::string path = "/api/v1/ingest?job=j&source=s";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(number(curl(server, path, "--data-binary @" + folder + "/pdf").json(), "bytes"), 9U);
  const auto receipt = curl(server, path, "--data-binary @" + folder + "/log").json();
  EXPECT_EQ(number(receipt, "recognized"), kLines);
  EXPECT_EQ(number(receipt, "next_offset"), log_text().size());
  EXPECT_EQ(number(curl(server, path, "--data-binary @" + folder + "/pdf").json(), "next_offset"),
            log_text().size());
}

}  // namespace
}  // namespace faultline
