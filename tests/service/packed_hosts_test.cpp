#include "service/packed_hosts.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

Timestamp at(int second) { return Timestamp(std::chrono::seconds(1'772'678'800 + second)); }

HostViews sample() {
  HostView view;
  view.events.push_back({.kind = "gpu_xid",
                         .cause = Cause::gpu_off_bus,
                         .severity = Severity::critical,
                         .code = 79,
                         .part = "0000:3b:00.0",
                         .count = 3,
                         .first = at(1),
                         .last = at(9),
                         .source = "dmesg.log",
                         .line = 17,
                         .offset = 1U << 30U,
                         .text = "NVRM: Xid (PCI:0000:3b:00): 79"});
  view.events.push_back({.kind = "host_booted"});
  view.gpus.push_back({.gpu = "0000:3b:00.0",
                       .uuid = "GPU-5f1c",
                       .counters = {{.counter = "ecc",
                                     .tool = "nvidia-smi",
                                     .full_at = UINT64_MAX,
                                     .readings = {{.value = 7, .time = at(4)}, {.value = 9}}}}});
  view.ports.push_back({.port = "mlx5_0:1", .netdev = "ib0", .guid = "0xb8ce"});
  return {{"gpu-node-1", view}, {"gpu-node-2", {}}};
}

TEST(PackedHosts, AreTheSameWhenUnpacked) {
  const HostViews hosts = unpacked_hosts(packed(sample()));
  ASSERT_EQ(hosts.size(), 2U);
  const HostView& view = hosts.at("gpu-node-1");
  ASSERT_EQ(view.events.size(), 2U);
  EXPECT_EQ(view.events[0].code, 79);
  EXPECT_EQ(view.events[0].cause, Cause::gpu_off_bus);
  EXPECT_EQ(view.events[0].last, at(9));
  EXPECT_EQ(view.events[0].text, "NVRM: Xid (PCI:0000:3b:00): 79");
  EXPECT_FALSE(view.events[1].severity.has_value());
  EXPECT_EQ(view.gpus.at(0).counters.at(0).full_at, UINT64_MAX);
  EXPECT_EQ(view.gpus.at(0).counters.at(0).readings.at(1).value, 9U);
  EXPECT_EQ(view.ports.at(0).netdev, "ib0");
  EXPECT_EQ(packed(hosts), packed(sample()));
}

// A hundred thousand hosts may have the same fault.
TEST(PackedHosts, WithTheSameFaultTakeLittle) {
  HostViews hosts;
  for (int host = 0; host < 1000; ++host)
    hosts["gpu-node-" + std::to_string(host)] = sample().at("gpu-node-1");
  EXPECT_LT(packed(hosts).size(), 20 * hosts.size());
  EXPECT_EQ(unpacked_hosts(packed(hosts)).size(), hosts.size());
}

}  // namespace
}  // namespace faultline
