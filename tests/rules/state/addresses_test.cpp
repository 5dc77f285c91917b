#include "rules/state/addresses.h"

#include <gtest/gtest.h>

#include <memory>

#include "job.h"

namespace faultline {
namespace {

Setting setting(std::string group, std::string name, std::string value) {
  return {.group = std::move(group), .name = std::move(name), .value = std::move(value)};
}

void tell(Job& job, int rank, const Setting& said) {
  job.say(Job::source_of(rank), Job::speaker_of(rank), said, said.group + " " + said.value);
}

ProcessKey process(int rank) { return {Job::host_of(rank), 1000 + rank}; }

TEST(BareAddress, IsFoundInEveryFormThatLogsUse) {
  EXPECT_EQ(bare_address("10.0.0.11"), "10.0.0.11");
  EXPECT_EQ(bare_address("10.0.0.11<43918>"), "10.0.0.11");
  EXPECT_EQ(bare_address("10.0.0.11:43918"), "10.0.0.11");
  EXPECT_EQ(bare_address("eth0:10.0.0.11<0>"), "10.0.0.11");
  EXPECT_EQ(bare_address("eth0:10.0.0.11"), "10.0.0.11");
  EXPECT_EQ(bare_address("mlx5_0:10.0.0.11:4791"), "10.0.0.11");
  EXPECT_EQ(bare_address("::ffff:10.0.0.11"), "10.0.0.11");
  EXPECT_EQ(bare_address("fe80::1%ib1<17943>"), "fe80::1");
  EXPECT_EQ(bare_address("ib0:fd00::11<0>"), "fd00::11");
  EXPECT_EQ(bare_address("[fd00::11]:4791"), "fd00::11");
}

TEST(BareAddress, IsEmptyWhereNoAddressStands) {
  for (const char* text : {"", "gpu-node-3", "gpu-node-3<43918>", "mlx5_1:1", ":", "<0>", "[", "%"})
    EXPECT_EQ(bare_address(text), "") << text;
}

TEST(AddressBook, NamesTheHostBehindABootstrapAddress) {
  Job job;
  tell(job, 0, setting("interface", "bootstrap", "eth0:10.0.0.11<0>"));
  tell(job, 8, setting("interface", "oob", "eth0:10.0.0.12"));
  EXPECT_EQ(job.state.addresses().host_of_address("10.0.0.11<43918>"), "node-0");
  EXPECT_EQ(job.state.addresses().host_of_address("10.0.0.12"), "node-1");
  EXPECT_EQ(job.state.addresses().host_of_address("10.0.0.13"), "");
  EXPECT_EQ(job.state.addresses().host_of_address("gpu-node-3<43918>"), "");
}

TEST(AddressBook, LearnsTheAddressesOfSocketDevices) {
  Job job;
  tell(job, 8, setting("devices", "Socket", "eth0:10.0.0.12<0> ib0:192.168.7.12<0>"));
  EXPECT_EQ(job.state.addresses().host_of_address("192.168.7.12<41234>"), "node-1");
  EXPECT_EQ(job.state.addresses().addresses_of("node-1"),
            (std::vector<std::string>{"10.0.0.12", "192.168.7.12"}));
  EXPECT_EQ(job.state.addresses().device_name(process(8), 1, "Socket"), "ib0");
}

TEST(AddressBook, IsKeptWholeByACopyThatOutlivesIt) {
  auto job = std::make_unique<Job>();
  tell(*job, 0, setting("devices", "IB", "mlx5_0:1/IB mlx5_1:1/IB"));
  const AddressBook copy = job->state.addresses();
  job.reset();
  EXPECT_EQ(copy.device_name(process(0), 1), "mlx5_1:1");
}

TEST(AddressBook, GivesAnAddressThatSeveralHostsClaimToNone) {
  Job job;
  for (int rank : {0, 8, 16})
    tell(job, rank, setting("interface", "bootstrap", "docker0:172.17.0.1<0>"));
  EXPECT_EQ(job.state.addresses().host_of_address("172.17.0.1"), "");
}

TEST(AddressBook, DoesNotTakeLoopbackForAnAddressOfAHost) {
  Job job;
  tell(job, 0, setting("interface", "bootstrap", "lo:127.0.0.1<0>"));
  EXPECT_EQ(job.state.addresses().host_of_address("127.0.0.1"), "");
  EXPECT_TRUE(job.state.addresses().addresses_of("node-0").empty());
}

TEST(AddressBook, NamesANicByItsNumberInItsProcess) {
  Job job;
  tell(job, 0, setting("devices", "IB", "mlx5_0:1/RoCE mlx5_1:1/RoCE"));
  tell(job, 1, setting("devices", "IB", "mlx5_4:1/IB"));
  const AddressBook& book = job.state.addresses();
  EXPECT_EQ(book.device_name(process(0), 1), "mlx5_1:1");
  EXPECT_EQ(book.device_name(process(1), 0), "mlx5_4:1");
  EXPECT_EQ(book.device_name(process(1), 1), "");
  EXPECT_EQ(book.device_name(process(0), -1), "");
  EXPECT_EQ(book.device_name(process(2), 0), "");
}

TEST(AddressBook, NamesMergedNicsAndLeavesOutWhereALineWasCut) {
  Job job;
  tell(job, 0, setting("devices", "IB", "mlx5_0:1/RoCE+mlx5_1:1/RoCE ibp0:1/IB/SHARP ..."));
  const AddressBook& book = job.state.addresses();
  EXPECT_EQ(book.devices_of(process(0)), (std::vector<std::string>{"mlx5_0:1+mlx5_1:1", "ibp0:1"}));
}

TEST(AddressBook, KeepsTheFirstListOfAProcessUnlessItWasEmpty) {
  Job job;
  tell(job, 0, setting("devices", "IB", ""));
  tell(job, 0, setting("devices", "IB", "mlx5_0:1/IB"));
  tell(job, 0, setting("devices", "IB", "mlx5_9:1/IB"));
  EXPECT_EQ(job.state.addresses().devices_of(process(0)), (std::vector<std::string>{"mlx5_0:1"}));
}

TEST(AddressBook, DoesNotGrowWithoutBoundOnAHostileLog) {
  Job job;
  for (int i = 0; i < 20000; ++i)
    tell(job, 0,
         setting("interface", "oob",
                 "eth0:10." + std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) + "." +
                     std::to_string(i & 255) + "<0>"));
  EXPECT_LE(job.state.addresses().addresses_of("node-0").size(), 64u);
}

}  // namespace
}  // namespace faultline
