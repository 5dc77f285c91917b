// The commands in the README and in the pages on clusters do what the text says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "curl.h"

namespace faultline {
namespace {

struct Example {
  std::string command;
  std::string output;
};

// A command is a line indented by four blanks; its output is the fenced block after it.
std::vector<Example> curl_examples(const std::string& readme) {
  std::vector<Example> examples;
  std::istringstream lines(readme);
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
    } else if (fenced && !examples.empty()) {
      examples.back().output += line + "\n";
    } else if (line.starts_with("    ") && line.find("curl ") != std::string::npos) {
      examples.push_back({line.substr(4), ""});
    }
  }
  return examples;
}

// Those of docs/mcp.md ask about the job that those of the README send.
TEST(Readme, ItsCurlLinesAnswerAsPrintedThere) {
  const std::string root = TESTS_DIR "/..";
  std::vector<Example> examples = curl_examples(read_file(root + "/README.md"));
  ASSERT_EQ(examples.size(), 3U);
  for (Example& example : curl_examples(read_file(root + "/docs/mcp.md")))
    examples.push_back(std::move(example));
  ASSERT_EQ(examples.size(), 5U);
  Workshop workshop;
  ServerProcess server(workshop.folder());
  for (Example example : examples) {
    SCOPED_TRACE(example.command);
    const std::string address = "http://127.0.0.1:8686";
    const std::size_t at = example.command.find(address);
    ASSERT_NE(at, std::string::npos);
    example.command.replace(at, address.size(), server.url(""));
    // The output contains the URL of the server, so the URL of the example is put in its place.
    std::string output = output_of("cd '" + root + "' && " + example.command + " 2>/dev/null");
    if (!output.ends_with('\n')) output += '\n';
    for (std::size_t here = output.find(server.url("")); here != std::string::npos;
         here = output.find(server.url("")))
      output.replace(here, server.url("").size(), address);
    EXPECT_EQ(output, example.output);
  }
}

// The fenced scripts of a page.
std::vector<std::string> scripts_of(const std::string& page) {
  std::vector<std::string> scripts;
  std::istringstream lines(read_file(TESTS_DIR "/../docs/" + page));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```bash";
      if (inside) scripts.emplace_back();
    } else if (inside) {
      scripts.back() += line + "\n";
    }
  }
  return scripts;
}

// The scripts run unchanged. Small scripts stand in for the programs of a cluster; they bring the
// logs of a simulated job of two hosts.
class ClusterPages : public testing::Test {
 protected:
  void SetUp() override {
    workshop.make(
        FAULTLINE_BINARY
        " simulate --scenario gpu_off_bus --nodes 2 --seed 3 --out sim >/dev/null && touch "
        "out");
    workshop.write("token", "unused");
  }

  void stand_in(const std::string& program, const std::string& script) {
    workshop.write("bin/" + program, "#!/bin/bash\n" + script);
    std::filesystem::permissions(workshop.folder() / "bin" / program,
                                 std::filesystem::perms::owner_all);
  }

  std::string run(const std::string& script, const std::string& settings, int expected_exit = 0) {
    workshop.write("script", script);
    const std::string folder = workshop.folder().string();
    int exit = -1;
    std::string output =
        output_of("cd '" + folder + "' && SIM='" + folder + "/sim/logs' PATH='" + folder +
                      "'/bin:$PATH FAULTLINE_URL=" + server.url("") +
                      " FAULTLINE_TOKEN_FILE=token TOKEN=unused " + settings + " bash script 2>&1",
                  &exit);
    EXPECT_EQ(exit, expected_exit) << output;
    return output;
  }

  std::string verdict(const std::string& job) {
    return plain_get(server, "/api/v1/jobs/" + job + "/diagnosis?format=text").body;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder()};
};

constexpr const char* kFaultOfTheHost = "GPU 0000:4c:00.0 on gpu-node-2 fell off the bus (Xid 79)";
constexpr const char* kFaultOfTheRank = "Rank 10 on gpu-node-2 never entered";

TEST_F(ClusterPages, ScriptsForSlurmSendWhatAJobAndItsNodesSay) {
  const std::vector<std::string> scripts = scripts_of("slurm.md");
  ASSERT_EQ(scripts.size(), 3U);
  stand_in(
      "srun",
      "n=0; for log in $SIM/*/nccl*; do host=$(basename $(dirname $log)); file=${NCCL_DEBUG_FILE/"
      "\\%h/$host}; cp $log ${file/\\%p/$((++n))}; done; exit 3\n");
  stand_in("dmesg", "cat $SIM/gpu-node-2/dmesg.txt\n");
  stand_in("hostname", "echo gpu-node-2\n");
  EXPECT_THAT(run(scripts[0], "SLURM_JOB_ID=7", 3), testing::HasSubstr(kFaultOfTheRank));
  EXPECT_THAT(read_file(workshop.folder() / "logs/7.why.txt"), testing::HasSubstr(kFaultOfTheRank));
  run(scripts[1], "SLURM_JOB_ID=7");
  EXPECT_THAT(verdict("slurm-7"), testing::HasSubstr(kFaultOfTheHost));

  // The third script replaces the end of the first one, to follow a running job.
  std::string following = scripts[0].substr(0, scripts[0].find("srun "));
  const std::string setting = " NCCL_DEBUG_FILE=$logs/nccl.%h.%p.log";
  ASSERT_NE(following.find(setting), std::string::npos);
  following.erase(following.find(setting), setting.size());
  stand_in("srun",
           "for host in gpu-node-1 gpu-node-2; do n=0; for log in $SIM/$host/nccl*; do "
           "sed \"s/^/$((n++)): /\" $log >>logs/8/$host.out; sleep 0.1; done; done; exit 3\n");
  stand_in("scontrol", "echo gpu-node-1; echo gpu-node-2\n");
  run(following + scripts[2], "SLURM_JOB_ID=8 SLURM_JOB_NODELIST=gpu-node-[1-2]", 3);
  EXPECT_THAT(verdict("slurm-8"), testing::HasSubstr(kFaultOfTheRank));
  const auto sources =
      plain_get(server, "/api/v1/sources?job=slurm-8").json().at("sources").as_array();
  ASSERT_EQ(sources.size(), 2U);
  for (const auto& source : sources) EXPECT_EQ(source.at("complete"), true);
}

TEST_F(ClusterPages, ScriptForKubernetesSendsTheLogsOfPods) {
  const std::vector<std::string> scripts = scripts_of("kubernetes.md");
  ASSERT_EQ(scripts.size(), 1U);
  stand_in("kubectl",
           "if [[ $1 == get ]]; then for log in $SIM/*/nccl*; do name=$(basename $log .log); echo "
           "pod/${name//./-}; done; else name=${2#pod/}; cat $SIM/*/${name/-/.}.log; fi\n");
  EXPECT_THAT(run(scripts[0], ""), testing::HasSubstr(kFaultOfTheRank));
}

TEST(Kubernetes, ManifestNamesFlagsThatAServerTakes) {
  std::istringstream lines(read_file(TESTS_DIR "/../packaging/kubernetes/faultline.yaml"));
  const std::string help = output_of(FAULTLINE_BINARY " serve --help");
  int flags = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("- --");
    if (at == std::string::npos) continue;
    ++flags;
    const std::string flag = line.substr(at + 2, line.find('=') - at - 2);
    EXPECT_THAT(help, testing::HasSubstr("  " + flag + " "));
  }
  EXPECT_GE(flags, 5);
}

// The anchors that GitHub makes from titles.
std::set<std::string> anchors_of(const std::filesystem::path& page) {
  std::set<std::string> anchors;
  std::istringstream lines(read_file(page));
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    if (fenced || !line.starts_with('#')) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::vector<std::string> dead_links(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> pages{folder / "README.md", folder / "CHANGELOG.md"};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  const RE2 link(R"(\]\(([^)# ]*)#?([^) ]*)\))");
  std::vector<std::string> dead;
  for (const std::filesystem::path& page : pages) {
    const std::string text = read_file(page);
    re2::StringPiece rest(text);
    for (std::string file, anchor; RE2::FindAndConsume(&rest, link, &file, &anchor);) {
      if (file.starts_with("http")) continue;
      const std::filesystem::path target = file.empty() ? page : page.parent_path() / file;
      if (!std::filesystem::exists(target) ||
          (!anchor.empty() && !anchors_of(target).contains(anchor)))
        dead.push_back(page.filename().string() + ": " + file + "#" + anchor);
    }
  }
  return dead;
}

TEST(Pages, HaveLinksThatLeadSomewhereAlsoWhereTheyAreInstalled) {
  const std::filesystem::path root = TESTS_DIR "/..";
  EXPECT_THAT(dead_links(root), testing::IsEmpty());
  Workshop workshop;
  const std::string installed = (workshop.folder() / "doc").string();
  int exit = -1;
  output_of("'" + (root / "packaging/docs.sh").string() + "' '" + installed + "' 2>&1", &exit);
  EXPECT_EQ(exit, 0);
  EXPECT_THAT(dead_links(installed), testing::IsEmpty());
}

}  // namespace
}  // namespace faultline
