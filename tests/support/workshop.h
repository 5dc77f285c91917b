// A folder for one test, to write files in and to run real commands in.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace faultline {

inline std::string read_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class Workshop {
 public:
  Workshop() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "faultline_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Workshop() { std::filesystem::remove_all(folder_); }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // Runs a command in the folder and returns what it writes to "out".
  std::string make(const std::string& command) {
    const std::string line = "cd '" + folder_.string() + "' && exec 2>messages && " + command;
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
    return read_file(folder_ / "out");
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace faultline
