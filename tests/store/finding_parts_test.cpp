#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/value.hpp>

#include "commits.h"
#include "model/json.h"
#include "store/migrations.h"
#include "store/store.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

Finding finding(std::string id, std::string_view cause, std::vector<std::string> hosts,
                std::vector<std::string> gpus = {}) {
  return {.id = std::move(id),
          .cause = cause_named(cause),
          .severity = Severity::critical,
          .subject = {.hosts = std::move(hosts), .gpus = std::move(gpus)}};
}

class FindingPartsTest : public testing::Test {
 protected:
  using Blamed = std::set<std::string, std::less<>>;

  void reconcile(const std::string& job, const std::vector<Finding>& found,
                 const Blamed& blamed = {}, int attempt = 1) {
    store.reconcile_findings(job, attempt, found, kNoon + minutes(++minute), {.blamed = blamed});
  }
  std::vector<std::string> found_on(const std::string& host) {
    std::vector<std::string> ids;
    for (const HostFinding& found : store.findings_of_host(host, 100))
      ids.push_back(found.stored.finding.id);
    return ids;
  }
  std::vector<std::string> offenders(const std::vector<std::string>& hosts) {
    std::vector<std::string> jobs;
    for (const Offence& offence : store.gpu_offences(hosts))
      jobs.push_back(offence.stored.job + " " + offence.host + "/" + offence.part);
    return jobs;
  }

  TemporaryFolder folder;
  Store store{folder / "f.db"};
  int minute = 0;
};

const std::string kGpu = "n1/0000:3b:00.0";

TEST_F(FindingPartsTest, AHostHasTheFindingsOfAllItsJobsThatTellOfMachines) {
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu}),
                  finding("2", "software.collective_skipped", {"n1"}),
                  finding("3", "gpu.teardown", {"n1"}, {kGpu}),
                  finding("4", "network.link_down", {"n1", "n2"})});
  reconcile("b", {finding("5", "software.gpu_memory_fault", {}, {kGpu})});
  EXPECT_THAT(found_on("n1"), ElementsAre("5", "4", "1"));
  EXPECT_THAT(found_on("n2"), ElementsAre("4"));
  EXPECT_THAT(found_on("n"), IsEmpty());
  EXPECT_THAT(store.hosts_with_findings(), ElementsAre("n1", "n2"));
}

TEST_F(FindingPartsTest, PortsAndHostsThatWereBlamedAreOffendersWhereNoGpuIs) {
  Finding link = finding("1", "network.link_errors", {"n1"});
  link.subject.nics = {"n1/mlx5_2:1", "switch leaf01 port 4"};
  Finding many = finding("4", "network.congestion", {"n1"});
  many.subject.nics = {"n1/mlx5_0:1", "n1/mlx5_1:1", "n1/mlx5_2:1"};
  reconcile("a",
            {link, finding("2", "host.memory_error", {"n1"}),
             finding("3", "gpu.off_bus", {"n1"}, {kGpu}), many, finding("5", "host.down", {"n1"})},
            {"1", "2", "3", "4"});
  std::vector<std::string> told;
  for (const Offence& offence : store.other_offences({"n1", "n2"}))
    told.push_back(offence.stored.finding.id + " " + offence.host + "/" + offence.part);
  EXPECT_THAT(told, testing::UnorderedElementsAre("1 n1/mlx5_2:1", "2 n1/"));
}

TEST_F(FindingPartsTest, ASubjectThatChangesLeavesNothingBehind) {
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu})});
  reconcile("a", {finding("1", "gpu.off_bus", {"n2"})});
  EXPECT_THAT(found_on("n1"), IsEmpty());
  EXPECT_THAT(found_on("n2"), ElementsAre("1"));
}

TEST_F(FindingPartsTest, TalliesTellOpenOnesFromAll) {
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu}), finding("2", "pcie.error", {"n1"})});
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu})});
  const auto tallies = store.tallies({"n1", "n2"});
  ASSERT_EQ(tallies.size(), 1U);
  const auto critical = static_cast<std::size_t>(Severity::critical);
  EXPECT_EQ(tallies.at("n1").total[critical], 2U);
  EXPECT_EQ(tallies.at("n1").open[critical], 1U);
}

TEST_F(FindingPartsTest, OnlyWhatWasBlamedAndNamesOneGpuIsAnOffence) {
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu})}, {"1"});
  reconcile("b", {finding("2", "gpu.off_bus", {"n1"}, {kGpu})});
  reconcile("c", {finding("3", "gpu.nvlink_error", {"n1"}, {kGpu, "n1/0000:4b:00.0"})}, {"3"});
  reconcile("d", {finding("4", "host.down", {"n1"})}, {"4"});
  EXPECT_THAT(offenders({"n1", "n2"}), ElementsAre("a " + kGpu));
  EXPECT_THAT(offenders({"n2"}), IsEmpty());
  EXPECT_THAT(offenders({}), IsEmpty());
}

TEST_F(FindingPartsTest, ABlameThatIsTakenBackIsNoOffence) {
  const std::vector<Finding> found{finding("1", "gpu.off_bus", {"n1"}, {kGpu})};
  reconcile("a", found, {"1"});
  reconcile("a", found);
  EXPECT_THAT(offenders({"n1"}), IsEmpty());
  reconcile("a", found, {"1"});
  EXPECT_THAT(offenders({"n1"}), ElementsAre("a " + kGpu));
  reconcile("a", {});
  EXPECT_THAT(offenders({"n1"}), IsEmpty()) << "it was found to be nothing";
}

TEST_F(FindingPartsTest, WhatEndedAnEarlierAttemptStaysAnOffence) {
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu})}, {"1"});
  reconcile("a", {}, {}, 2);
  EXPECT_THAT(offenders({"n1"}), ElementsAre("a " + kGpu));
}

TEST_F(FindingPartsTest, AHostNameOfAnyBytesHarmsNobody) {
  const std::string odd = "n\"1'\\\xff\x01";
  reconcile("a", {finding("1", "gpu.off_bus", {"n1"}, {kGpu})}, {"1"});
  EXPECT_THAT(offenders({odd, "n1"}), ElementsAre("a " + kGpu));
}

TEST(FindingParts, FindingsOfAnOlderSchemaAreTakenIn) {
  const TemporaryFolder folder;
  const Finding old = finding("1", "gpu.off_bus", {"n1"}, {kGpu, "unknown-host/0000:4b:00.0"});
  {
    Database database(folder / "f.db", Database::Access::read_write);
    migrate(database, {migrations().front()});
    for (const Finding& each : {old, finding("2", "launch.rank_missing", {"n1"})}) {
      const std::string body = compact(to_json(each));
      database.run(
          "INSERT INTO findings (job, attempt, id, cause, severity, opened, changed, body) "
          "VALUES ('a', 1, ?, ?, 3, 1, 1, ?)",
          each.id, name_of(each.cause), body);
    }
  }
  Store store(folder / "f.db");
  EXPECT_THAT(store.hosts_with_findings(), ElementsAre("n1"));
  const auto found = store.findings_of_host("n1", 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].stored.finding, old);
  EXPECT_FALSE(found[0].blamed) << "the service judges it anew";
}

}  // namespace
}  // namespace faultline
