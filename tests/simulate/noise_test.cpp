// Lines of kernels that have nothing to do with the job.
#include "simulate/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/simulate.h"

namespace faultline::simulation {
namespace {

using testing::HasSubstr;
using testing::Not;

std::map<std::string, std::string> files_of(Options options) {
  options.nodes = 2;
  options.gpus_per_node = 4;
  options.steps = 6;
  MemoryOutput output;
  simulate(checked(options).value(), output);
  return output.files;
}

std::string said_by_kernels(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [name, text] : files)
    if (name.find("nccl") == std::string::npos && name != "truth.json") all += text;
  return all;
}

TEST(Noise, HasNoPlaceholderLeft) {
  for (const Noise noise : {Noise::today, Noise::hours, Noise::day, Noise::undated})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const std::string text = said_by_kernels(files_of({.seed = seed, .noise = noise}));
      EXPECT_NE(text, "");
      for (const char* left : {"{n}", "{pci}", "{tool}", "{hex}", "{slot}", "{nic}"})
        EXPECT_THAT(text, Not(HasSubstr(left)));
    }
}

TEST(Noise, NamesNoPartOfTheJob) {
  const std::string text = said_by_kernels(files_of({.seed = 3, .noise = Noise::undated}));
  for (const char* part : {"0000:19:", "0000:3b:", "0000:4c:", "0000:5d:", "mlx5_0", "eth0"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(Noise, WithoutItTheJobIsTheSame) {
  auto with = files_of({.seed = 2, .noise = Noise::undated});
  std::erase_if(
      with, [](const auto& file) { return file.first.find("dmesg-tail") != std::string::npos; });
  EXPECT_EQ(with, files_of({.seed = 2}));
}

TEST(KernelLogs, WithoutTheBootBeginWithWhatHappened) {
  const auto text_of = [](bool booted) {
    return said_by_kernels(files_of({.scenario = "gpu_off_bus", .booted = booted}));
  };
  EXPECT_THAT(text_of(true), HasSubstr("Linux version"));
  EXPECT_THAT(text_of(false), Not(HasSubstr("Linux version")));
  EXPECT_THAT(text_of(false), HasSubstr("Xid"));
}

TEST(Containers, HaveEqualPidsOnEveryHost) {
  const auto files = files_of({.containers = true});
  EXPECT_THAT(files.at("logs/gpu-node-1/nccl.rank0.log"), HasSubstr("gpu-node-1:65:"));
  EXPECT_THAT(files.at("logs/gpu-node-2/nccl.rank4.log"), HasSubstr("gpu-node-2:65:"));
}

}  // namespace
}  // namespace faultline::simulation
