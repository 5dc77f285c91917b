// Names for the files of one body or archive: it may hold several versions of a file, and each is a
// source of its own.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>

namespace faultline {

class FileNames {
 public:
  // name, name#2, name#3, ...
  std::string next(std::string_view name) {
    const int version = ++versions_[std::string(name)];
    return version == 1 ? std::string(name) : fmt::format("{}#{}", name, version);
  }

 private:
  std::unordered_map<std::string, int> versions_;
};

}  // namespace faultline
