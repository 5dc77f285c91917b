// Logs that are sent in bodies, cut wherever the buffer of the sender ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <vector>

#include "curl.h"
#include "fixture.h"
#include "server_process.h"

namespace faultline {
namespace {

namespace json = boost::json;

// The sum of the counts in several receipts.
struct Counts {
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::uint64_t skipped = 0;
  std::uint64_t events = 0;
  std::map<std::string, std::uint64_t> dialects;

  void add(const json::object& receipt) {
    const auto number = [&](const char* name) {
      return receipt.at(name).to_number<std::uint64_t>();
    };
    lines += number("lines");
    recognized += number("recognized");
    skipped += number("skipped_lines");
    events += number("events");
    for (const auto& [dialect, count] : receipt.at("dialects").as_object())
      dialects[std::string(dialect)] += count.to_number<std::uint64_t>();
  }

  bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.lines << " lines, " << counts.recognized << " recognized, " << counts.skipped
       << " skipped, " << counts.events << " events";
  for (const auto& [dialect, count] : counts.dialects) *out << ", " << dialect << ' ' << count;
}

class Bodies : public testing::Test {
 protected:
  Counts send(const std::string& path, std::string_view body) {
    workshop.write("body", std::string(body));
    const Reply reply =
        curl(server, path, "--data-binary @" + (workshop.folder() / "body").string());
    EXPECT_EQ(reply.status, 200) << reply.body;
    Counts counts;
    if (reply.status == 200) counts.add(reply.json());
    return counts;
  }

  Counts send_in_bodies(const std::string& path, std::string_view text) {
    std::vector<std::size_t> cuts(1 + random() % 4);
    for (std::size_t& cut : cuts) cut = random() % (text.size() + 1);
    cuts.push_back(text.size());
    std::ranges::sort(cuts);
    Counts sum;
    std::size_t at = 0;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const bool last = i + 1 == cuts.size();
      const Reply reply = [&] {
        workshop.write("body", std::string(text.substr(at, cuts[i] - at)));
        return curl(server, path + "&offset=" + std::to_string(at) + (last ? "&final=true" : ""),
                    "--data-binary @" + (workshop.folder() / "body").string());
      }();
      EXPECT_EQ(reply.status, 200) << reply.body;
      if (reply.status != 200) return sum;
      sum.add(reply.json());
      at = cuts[i];
      EXPECT_EQ(reply.json().at("next_offset").to_number<std::size_t>(), at);
    }
    return sum;
  }

  // The verdict, the summary and the findings of a diagnosis, without the name of the job.
  std::string answer(const std::string& job) {
    std::string all;
    const json::object diagnosis = plain_get(server, "/api/v1/jobs/" + job + "/diagnosis").json();
    all += json::serialize(diagnosis.at("verdict")) + json::serialize(diagnosis.at("summary"));
    for (const char* list : {"root_causes", "symptoms", "observations"})
      for (const json::value& finding : diagnosis.at(list).as_array())
        all += "\n" + json::serialize(finding.at("title")) +
               json::serialize(finding.at("confidence")) + json::serialize(finding.at("evidence"));
    return all;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder()};
  std::mt19937 random{11};
};

std::vector<std::filesystem::path> scenario_logs() {
  std::vector<std::filesystem::path> logs;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TESTS_DIR "/scenarios/gpu_off_bus/logs"))
    if (entry.is_regular_file()) logs.push_back(entry.path());
  std::ranges::sort(logs);
  return logs;
}

TEST_F(Bodies, CutAtRandomBytesGiveTheReceiptsAndTheDiagnosisOfWholeOnes) {
  ASSERT_FALSE(scenario_logs().empty());
  for (const std::filesystem::path& log : scenario_logs()) {
    const std::string host = log.parent_path().filename().string();
    const std::string source = host + "/" + log.filename().string();
    const auto path = [&](const std::string& job) {
      return "/api/v1/ingest?job=" + job + "&host=" + host + "&source=" + source;
    };
    const std::string text = read_file(log);
    const Counts whole = send(path("whole") + "&final=true", text);
    EXPECT_EQ(send_in_bodies(path("cut"), text), whole) << source;
  }
  const std::string whole = answer("whole");
  EXPECT_NE(whole.find("fell off the bus"), std::string::npos) << whole;
  EXPECT_EQ(answer("cut"), whole);
}

TEST_F(Bodies, ADumpOrATraceThatIsCutIsWholeOnceItsRestHasCome) {
  for (const std::string name : {"torch_v2.10.pickle", "torch_v2.10.json"}) {
    const std::string dump = fixture("flight_recorder/" + name);
    const Counts whole = send("/api/v1/ingest?job=whole&final=true&source=" + name, dump);
    EXPECT_EQ(whole.recognized, 1U);
    EXPECT_EQ(send_in_bodies("/api/v1/ingest?job=cut&source=" + name, dump), whole) << name;
  }
}

TEST_F(Bodies, AFileThatGrewIsCountedOnceThoughItEndedInMidLine) {
  const std::string log =
      "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=40224, name=python3, GPU has fallen off "
      "the bus.\n";
  const std::string path = "/api/v1/ingest?job=j&host=n1&source=dmesg";
  Counts sum = send(path, log.substr(0, 60));
  EXPECT_EQ(sum.lines, 1U) << "a sender that may have said all sees what it sent";
  const Counts rest = send(path, log + log);
  EXPECT_EQ(sum.lines + rest.lines, 2U);
  EXPECT_EQ(sum.recognized + rest.recognized, 2U);
  const auto source = plain_get(server, "/api/v1/sources?job=j").json().at("sources").at(0);
  EXPECT_EQ(source.at("lines").to_number<int>(), 2);
  EXPECT_EQ(source.at("recognized").to_number<int>(), 2);
  EXPECT_EQ(source.at("events").to_number<int>(), 2);
}

TEST(LastLines, WithoutANewlineAreReadOnceNothingComes) {
  Workshop workshop;
  ServerProcess impatient(workshop.folder(), {"--stall-after", "0s"});
  workshop.write("body",
                 "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=40224, name=python3, GPU has "
                 "fallen off the bus.");
  curl(impatient, "/api/v1/ingest?job=j&host=n1&source=dmesg",
       "--data-binary @" + (workshop.folder() / "body").string());
  EXPECT_NE(plain_get(impatient, "/api/v1/jobs/j/diagnosis").body.find("gpu.off_bus"),
            std::string::npos);
  EXPECT_EQ(plain_get(impatient, "/api/v1/sources?job=j")
                .json()
                .at("sources")
                .at(0)
                .at("lines")
                .to_number<int>(),
            1);
}

}  // namespace
}  // namespace faultline
