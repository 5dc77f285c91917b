// A server's answers about everything that it holds, so that two states can be compared.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace faultline::faults {

// Members to leave out of answers, since they differ between servers that hold the same.
enum class Forget {
  asking,   // the time of the request
  arrival,  // also the times at which the logs came
};

using Answers = std::map<std::string, std::string>;  // by the path of the request

Answers answers_of(int port, const std::vector<std::string>& jobs, Forget forget);

// For each answer that differs, its first difference in words.
std::vector<std::string> differences(const Answers& expected, const Answers& found);

}  // namespace faultline::faults
