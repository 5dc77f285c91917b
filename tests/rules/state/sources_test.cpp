// The host and the rank of a source whose lines do not name them.
#include "rules/state/sources.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

HostNames names_of(const std::vector<std::string>& hosts) {
  HostNames names;
  for (const std::string& host : hosts) names.add(host);
  return names;
}

const HostNames kHosts = names_of({"gpu-node-1", "gpu-node-12", "n7", "10.0.0.4"});

TEST(HostInPath, IsTheKnownOneThatTheFileOrItsFolderIsNamedAfter) {
  EXPECT_EQ(kHosts.known_in("logs/gpu-node-12/dmesg.txt"), "gpu-node-12");
  EXPECT_EQ(kHosts.known_in("logs/dmesg-gpu-node-1.log"), "gpu-node-1");
  EXPECT_EQ(kHosts.known_in("logs/10.0.0.4/dmesg.txt"), "10.0.0.4");
  EXPECT_EQ(kHosts.known_in("logs/dmesg.txt"), "");
  EXPECT_EQ(kHosts.known_in("logs/gpu-node-123/dmesg.txt"), "");
}

TEST(HostInPath, IsAnUnknownOneWhereAFolderOrFileIsNumberedLikeAKnownOne) {
  EXPECT_EQ(kHosts.numbered_like_one("logs/gpu-node-3/dmesg.txt"), "gpu-node-3");
  EXPECT_EQ(kHosts.numbered_like_one("gpu-node-345/kern.log"), "gpu-node-345");
  EXPECT_EQ(kHosts.numbered_like_one("logs/dmesg-gpu-node-3.log"), "gpu-node-3");
  EXPECT_EQ(kHosts.numbered_like_one("logs/gpu-node-3"), "gpu-node-3");
}

TEST(HostInPath, IsNotGuessedFromWhatOnlyLooksALittleLikeIt) {
  EXPECT_EQ(kHosts.numbered_like_one("logs/gpu-node-a/dmesg.txt"), "");
  EXPECT_EQ(kHosts.numbered_like_one("logs/gpu-node-3-spare/dmesg.txt"), "");
  EXPECT_EQ(kHosts.numbered_like_one("logs/n8/dmesg.txt"), "");
  EXPECT_EQ(kHosts.numbered_like_one("logs/10.0.0.5/dmesg.txt"), "");
}

TEST(HostInPath, IsOneWhoseFileLiesWhereThatOfAKnownHostDoes) {
  LikePaths logs;
  for (const char* path :
       {"logs/gpu-node-1/dmesg.txt", "logs/spare07/dmesg.txt", "logs/run-3/dmesg.txt",
        "logs/2026-02-18/dmesg.txt", "dmesg-n7.log", "dmesg-k2.log", "dmesg-old.log"})
    logs.add(path);
  EXPECT_EQ(logs.host_in("logs/spare07/dmesg.txt", kHosts), "spare07");
  EXPECT_EQ(logs.host_in("dmesg-k2.log", kHosts), "k2");
  EXPECT_EQ(logs.host_in("logs/run-3/dmesg.txt", kHosts), "");
  EXPECT_EQ(logs.host_in("logs/2026-02-18/dmesg.txt", kHosts), "");
  EXPECT_EQ(logs.host_in("dmesg-old.log", kHosts), "");
  EXPECT_EQ(logs.host_in("other/spare07/dmesg.txt", kHosts), "");
}

TEST(HostByItsWords, IsReadOffNamesThatHostsHave) {
  EXPECT_EQ(host_by_its_words("dmesg-node-1.log"), "node-1");
  EXPECT_EQ(host_by_its_words("gpu-node-3/dmesg.txt"), "gpu-node-3");
  EXPECT_EQ(host_by_its_words("kern_gpunode12.log.gz"), "gpunode12");
  EXPECT_EQ(host_by_its_words("logs/ip-10-0-3-17/messages"), "ip-10-0-3-17");
  EXPECT_EQ(host_by_its_words("hgx-h100-07/dmesg"), "hgx-h100-07");
  EXPECT_EQ(host_by_its_words("nid001234.dmesg"), "nid001234");
  EXPECT_EQ(host_by_its_words("node-3.cluster.local/dmesg.txt"), "node-3");
}

TEST(HostByItsWords, IsNotReadOffOtherNumbers) {
  for (const char* path :
       {"dmesg.txt", "dmesg-3.log", "gpu3/dmesg.txt", "xid79.log", "run-7/dmesg.txt",
        "attempt_1/0/stderr.log", "dmesg-2026-02-18.log", "syslog.1", "rank3.log", "many_nodes.txt",
        "host/10.0.0.7", "job-123/node/dmesg.txt", "node-rank-3.log"})
    EXPECT_EQ(host_by_its_words(path), "") << path;
}

TEST(Sources, TheHostThatAPathNamesIsKnownOnceAnotherSourceNamesItHoweverOftenItWasAsked) {
  Sources sources;
  const std::uint32_t index = sources.apply({.name = "run7/zeta/out.log"}, Batch(), Timestamp{});
  EXPECT_EQ(sources.host_of(index), "");
  EXPECT_EQ(sources.host_of(index), "");
  sources.apply({.name = "b", .host = "zeta"}, Batch(), Timestamp{});
  const NamedHost now = sources.whose(index);
  EXPECT_EQ(now.host, "zeta");
  EXPECT_EQ(now.told, HostTold::by_path_and_lines);
  Sources copy = sources;
  EXPECT_EQ(copy.host_of(index), "zeta");
  copy.apply({.name = "run7/zeta/out.log", .host = "eta"}, Batch(), Timestamp{});
  EXPECT_EQ(copy.host_of(index), "eta");
  EXPECT_EQ(sources.host_of(index), "zeta");
}

TEST(RankByFileName, IsTheNumberBehindTheWord) {
  EXPECT_EQ(rank_by_file_name("nccl-debug-rank7.log").rank, 7);
  EXPECT_EQ(rank_by_file_name("logs/rank_12.err").rank, 12);
  EXPECT_EQ(rank_by_file_name("train.rank-3.txt").rank, 3);
}

TEST(RankByFileName, IsNoOtherNumber) {
  for (const char* path : {"7.log", "rank3/0.log", "local_rank0.log", "node-rank-1.log",
                           "ranks8.log", "frank7.log", "rank.log", "attempt_0/1/stderr.log"})
    EXPECT_EQ(rank_by_file_name(path).rank, -1) << path;
}

}  // namespace
}  // namespace faultline
