// NCCL's lines, watchdogs and dumps of one job give one finding with lines of each, even if the
// clocks of hosts disagree, stamps are local time, or NCCL numbers the ranks in another order.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <sstream>

#include "simulate/simulate.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr double kNotable = 0.3;  // below this a finding says itself that it is too weak to act on

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<fs::path> files_under(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// Moves the hours of watchdog stamps such as "[E305 02:11:34.1".
void live_in_another_zone(const fs::path& logs) {
  for (const fs::path& path : files_under(logs)) {
    std::string text = read(path);
    for (const char letter : {'E', 'W', 'I', 'F'}) {
      const std::string stamp = fmt::format("[{}305 ", letter);
      for (std::size_t at = text.find(stamp); at != std::string::npos;
           at = text.find(stamp, at + 1)) {
        const int hour = std::stoi(text.substr(at + stamp.size(), 2));
        text.replace(at + stamp.size(), 2, fmt::format("{:02}", hour + 7));
      }
    }
    write(path, text);
  }
}

// Moves the times in the dumps of one host a minute and a half ahead.
void run_ahead(const fs::path& host) {
  constexpr std::int64_t kAheadNs = 90'000'000'000;
  for (const fs::path& path : files_under(host)) {
    if (path.extension() != ".json") continue;
    std::string text = read(path);
    for (const std::string key : {"\"time_created_ns\":", "\"time_discovered_started_ns\":",
                                  "\"time_discovered_completed_ns\":"})
      for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
        std::size_t begin = at + key.size();
        begin = text.find_first_of("0123456789", begin);
        const std::size_t end = text.find_first_not_of("0123456789", begin);
        const std::int64_t ns = std::stoll(text.substr(begin, end - begin));
        if (ns > 0) text.replace(begin, end - begin, std::to_string(ns + kAheadNs));
      }
    write(path, text);
  }
}

// Removes the lines of the communicator of the whole job. The remaining communicators each number
// their ranks from 0.
void lose_the_world(const fs::path& logs, int ranks) {
  std::set<std::string> worlds;
  const std::string size = fmt::format(" nranks {} ", ranks);
  for (const fs::path& path : files_under(logs)) {
    const std::string text = read(path);
    for (std::size_t at = text.find(size); at != std::string::npos; at = text.find(size, at + 1)) {
      const std::size_t line = text.rfind('\n', at) + 1;
      const std::size_t pointer = text.find(" comm 0x", line);
      if (pointer < at)
        worlds.insert(path.string() + text.substr(pointer, text.find(' ', pointer + 6) - pointer));
    }
  }
  for (const fs::path& path : files_under(logs)) {
    std::string kept;
    std::istringstream lines(read(path));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t pointer = line.find(" comm 0x");
      const bool of_world =
          pointer != std::string::npos &&
          worlds.contains(path.string() +
                          line.substr(pointer, line.find(' ', pointer + 6) - pointer));
      if (!of_world) kept += line + '\n';
    }
    if (path.extension() == ".log") write(path, kept);
  }
}

struct Fault {
  const char* scenario;
  bool names_ranks = true;
};
constexpr Fault kFaults[] = {{"rank_behind"},
                             {"kernel_hangs"},
                             {"group_stalled", false},
                             {"collective_skipped_odd"},
                             {"collective_skipped_same"},
                             {"collective_extra"},
                             {"collective_mismatch_function"},
                             {"collective_mismatch_count"},
                             {"collective_mismatch_datatype"},
                             {"p2p_mismatch_size"}};

enum class Trouble { none, zone, skew };

struct Row {
  Fault fault;
  Trouble trouble;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
  constexpr const char* kNames[] = {"whose_clocks_agree", "in_another_zone", "with_a_host_ahead"};
  return out << row.fault.scenario << "_" << kNames[static_cast<int>(row.trouble)];
}

simulation::Options options_of(const char* scenario) {
  simulation::Options options;
  options.scenario = scenario;
  options.evidence = "nccl,watchdog,dumps,launcher";
  options.nodes = 2;
  options.tensor_parallel = 4;
  options.pipeline_parallel = 2;
  options.json_dumps = true;
  options.timing = true;
  return simulation::checked(options).value();
}

class ThreeClocks : public testing::TestWithParam<Row> {};

TEST_P(ThreeClocks, TellOneStory) {
  const auto& [fault, trouble] = GetParam();
  const Workshop workshop;
  simulation::FolderOutput output(workshop.folder());
  const auto truth = simulation::simulate(options_of(fault.scenario), output);
  const fs::path logs = workshop.folder() / "logs";
  if (trouble == Trouble::zone) live_in_another_zone(logs);
  if (trouble == Trouble::skew) run_ahead(logs / "gpu-node-2");

  const Diagnosis diagnosis = diagnosis_of(logs);
  std::string all;
  for (const Finding& finding : diagnosis.root_causes)
    all += fmt::format("{} {}: {}\n", finding.cause, finding.confidence, finding.title);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& cause = diagnosis.root_causes.front();
  EXPECT_EQ(cause.cause, truth.cause) << all;
  std::vector<int> wanted = truth.subject.ranks;
  std::ranges::sort(wanted);
  if (!fault.names_ranks) wanted.clear();
  EXPECT_EQ(cause.subject.ranks, wanted) << all;
  const auto notable = std::ranges::count_if(
      diagnosis.root_causes, [](const Finding& finding) { return finding.confidence >= kNotable; });
  EXPECT_EQ(notable, 1) << all;
  std::string lines;
  for (const Evidence& line : cause.evidence) lines += line.source + ": " + line.text + "\n";
  EXPECT_THAT(lines, HasSubstr("opCount "));
  EXPECT_THAT(lines, HasSubstr("process group "));
  EXPECT_THAT(lines, HasSubstr("Watchdog caught collective operation timeout"));
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Fault& fault : kFaults)
    for (const Trouble trouble : {Trouble::none, Trouble::zone, Trouble::skew})
      all.push_back({fault, trouble});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ThreeClocks, testing::ValuesIn(rows()), [](const auto& each) {
  std::ostringstream name;
  name << each.param;
  return name.str();
});

TEST(ThreeClocksOfOneJob, CallRanksByTheNamesThatPyTorchGivesThem) {
  const Workshop workshop;
  simulation::FolderOutput output(workshop.folder());
  const auto truth = simulation::simulate(options_of("rank_behind"), output);
  lose_the_world(workshop.folder() / "logs", 16);
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "logs");
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_EQ(finding.subject.ranks, truth.subject.ranks) << finding.title;
  EXPECT_EQ(diagnosis.ranks.expected, 16);
  EXPECT_EQ(diagnosis.ranks.seen, 16);
}

}  // namespace
}  // namespace faultline
