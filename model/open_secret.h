// A secret that begins in one line and goes on in the next.
#pragma once

#include <string>

namespace faultline {

struct OpenSecret {
  bool in_key = false;  // a private key, whose lines follow
  std::string setting;  // the name of a setting without its value, as setting_left_open() has it

  bool empty() const { return !in_key && setting.empty(); }
};

}  // namespace faultline
