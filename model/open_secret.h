// What a line leaves open of a secret, for the line behind it.
#pragma once

#include <string>

namespace faultline {

struct OpenSecret {
  bool in_key = false;  // a private key, whose lines follow
  std::string setting;  // the name of a setting without its value, as setting_left_open() has it

  bool empty() const { return !in_key && setting.empty(); }
};

}  // namespace faultline
