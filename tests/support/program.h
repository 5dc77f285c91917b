// Runs the program as a user does, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "workshop.h"

namespace faultline {

class ProgramTest : public testing::Test {
 protected:
  struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
  };

  // Runs a shell line in the test's folder; $F is the program.
  Outcome run(const std::string& line) {
    const auto& folder = workshop.folder();
    const std::string command = "cd '" + folder.string() + "' && F='" FAULTLINE_BINARY "' && (" +
                                line + ") >'" + folder.string() + ".out' 2>'" + folder.string() +
                                ".err'";
    const int status = std::system(command.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                    read_file(folder.string() + ".out"), read_file(folder.string() + ".err")};
    std::filesystem::remove(folder.string() + ".out");
    std::filesystem::remove(folder.string() + ".err");
    return outcome;
  }

  // Expects that the line exits with 2, prints nothing to stdout, and says `error` on stderr.
  void expect_refused(const std::string& line, const std::string& error) {
    SCOPED_TRACE(line);
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(error), std::string::npos) << outcome.err;
  }

  Workshop workshop;
};

}  // namespace faultline
