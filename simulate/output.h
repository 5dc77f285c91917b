// Where the files of a job are written, one after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace faultline::simulation {

class Output {
 public:
  virtual ~Output() = default;
  virtual void open(const std::string& name) = 0;
  virtual void write(std::string_view text) = 0;
  virtual void close() = 0;

  void put(const std::string& name, std::string_view text) {
    open(name);
    write(text);
    close();
  }
};

// Throws std::runtime_error if a file cannot be written.
class FolderOutput : public Output {
 public:
  explicit FolderOutput(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void open(const std::string& name) override;
  void write(std::string_view text) override;
  void close() override;

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t files() const { return files_; }

 private:
  void check() const;

  std::filesystem::path folder_;
  std::string name_;
  std::ofstream file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
};

class MemoryOutput : public Output {
 public:
  void open(const std::string& name) override { current_ = &files[name]; }
  void write(std::string_view text) override { current_->append(text); }
  void close() override {}

  std::map<std::string, std::string> files;

 private:
  std::string* current_ = nullptr;
};

}  // namespace faultline::simulation
