// Jobs simulated in memory, for the tests of simulate/.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "simulate/simulate.h"

namespace faultline::simulation {

struct Simulated {
  Truth truth;
  std::map<std::string, std::string> files;
};

inline Options small_job(std::string scenario = "healthy", std::string nccl = "2.21.5") {
  Options options;
  options.scenario = std::move(scenario);
  options.nccl = std::move(nccl);
  options.nodes = 2;
  options.gpus_per_node = 2;
  options.steps = 6;
  return options;
}

inline Simulated simulated(const Options& options) {
  MemoryOutput output;
  Truth truth = simulate(checked(options).value(), output);
  return {std::move(truth), std::move(output.files)};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string all_logs(const Simulated& job) {
  std::string all;
  for (const auto& [name, text] : job.files)
    if (name.starts_with("logs/")) all += text;
  return all;
}

}  // namespace faultline::simulation
