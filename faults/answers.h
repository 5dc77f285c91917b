// What a server says of everything it holds, so that two states can be compared.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace faultline::faults {

// What of an answer differs between servers that hold the same.
enum class Forget {
  asking,   // when it was asked
  arrival,  // also when the logs came, and in how many bodies
};

using Answers = std::map<std::string, std::string>;  // by what was asked

Answers answers_of(int port, const std::vector<std::string>& jobs, Forget forget);

// In words, the first place of each answer that differs.
std::vector<std::string> differences(const Answers& expected, const Answers& found);

}  // namespace faultline::faults
