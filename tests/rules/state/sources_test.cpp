// Whose lines a source holds when they name no host.
#include "rules/state/sources.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

const std::set<std::string> kHosts{"gpu-node-1", "gpu-node-12", "n7", "10.0.0.4"};

TEST(HostInPath, IsTheKnownOneThatTheFileOrItsFolderIsNamedAfter) {
  EXPECT_EQ(host_in_path("logs/gpu-node-12/dmesg.txt", kHosts), "gpu-node-12");
  EXPECT_EQ(host_in_path("logs/dmesg-gpu-node-1.log", kHosts), "gpu-node-1");
  EXPECT_EQ(host_in_path("logs/dmesg.txt", kHosts), "");
}

TEST(HostInPath, IsAnUnknownOneWhereAFolderIsNumberedLikeAKnownOne) {
  EXPECT_EQ(host_in_path("logs/gpu-node-3/dmesg.txt", kHosts), "gpu-node-3");
  EXPECT_EQ(host_in_path("gpu-node-345/kern.log", kHosts), "gpu-node-345");
}

TEST(HostInPath, IsNotGuessedFromWhatOnlyLooksALittleLikeIt) {
  EXPECT_EQ(host_in_path("logs/gpu-node-a/dmesg.txt", kHosts), "");
  EXPECT_EQ(host_in_path("logs/gpu-node-3-old/dmesg.txt", kHosts), "");
  EXPECT_EQ(host_in_path("logs/n8/dmesg.txt", kHosts), "");
  EXPECT_EQ(host_in_path("logs/10.0.0.5/dmesg.txt", kHosts), "");
  EXPECT_EQ(host_in_path("logs/gpu-node-3", kHosts), "");  // a file
}

}  // namespace
}  // namespace faultline
