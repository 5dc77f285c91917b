// Files of tests/fixtures/.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace faultline {

inline std::string fixture(const std::string& name) {
  std::ifstream file(std::string(TESTS_DIR) + "/fixtures/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no fixture " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace faultline
