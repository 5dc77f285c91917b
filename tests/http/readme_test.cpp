// What the README says to type does what the README says it does.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
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

TEST(Readme, ItsCurlLinesAnswerAsPrintedThere) {
  const std::string root = TESTS_DIR "/..";
  const std::vector<Example> examples = curl_examples(read_file(root + "/README.md"));
  ASSERT_EQ(examples.size(), 3U);
  Workshop workshop;
  ServerProcess server(workshop.folder());
  await_ready(server);
  for (Example example : examples) {
    SCOPED_TRACE(example.command);
    const std::string address = "http://127.0.0.1:8686";
    const std::size_t at = example.command.find(address);
    ASSERT_NE(at, std::string::npos);
    example.command.replace(at, address.size(), server.url(""));
    // What is printed names the server, as the example does.
    std::string output = output_of("cd '" + root + "' && " + example.command + " 2>/dev/null");
    if (!output.ends_with('\n')) output += '\n';
    for (std::size_t here = output.find(server.url("")); here != std::string::npos;
         here = output.find(server.url("")))
      output.replace(here, server.url("").size(), address);
    EXPECT_EQ(output, example.output);
  }
}

}  // namespace
}  // namespace faultline
