// What launchers and collectors add to the lines of a process.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/time.h"

namespace faultline::simulation {

struct Speaker {
  std::string host;
  std::string address;
  std::int64_t pid = 0;
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
};

struct Wrapper {
  std::string_view name;
  std::string_view about;
  // Appends one line; `line` comes without its newline. nullptr: lines stay as they are.
  void (*wrap)(std::string& out, std::string_view line, const Speaker& speaker, Timestamp time);
};

std::span<const Wrapper> wrappers();
const Wrapper* wrapper_named(std::string_view name);

}  // namespace faultline::simulation
