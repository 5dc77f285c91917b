#include "service/wanted_evidence.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace faultline {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class WhatAgentsAreAskedFor : public testing::Test {
 protected:
  static Diagnosis hang(int attempt = 1) {
    Diagnosis diagnosis;
    diagnosis.job = "llama";
    diagnosis.attempt = attempt;
    diagnosis.verdict = Verdict::hang;
    diagnosis.root_causes.emplace_back();
    return diagnosis;
  }
  static MissingEvidence missing(EvidenceKind kind, std::vector<std::string> hosts,
                                 std::vector<int> ranks = {}) {
    MissingEvidence missing;
    missing.what = "something";
    missing.kind = kind;
    missing.hosts = std::move(hosts);
    missing.ranks = std::move(ranks);
    return missing;
  }
  std::vector<EvidenceRequest> take(const std::string& host = "a") {
    return wanted.take(
        host, {EvidenceKind::stacks, EvidenceKind::ras, EvidenceKind::kernel_log},
        [](std::string_view) { return true; }, now);
  }
  void note(const Diagnosis& diagnosis) { wanted.note(diagnosis, now + seconds(1000)); }
  void answer(const EvidenceRequest& request, EvidenceOutcome outcome) {
    EXPECT_TRUE(wanted.answer(
        request.host, request.id, outcome, "", [](std::string_view) { return true; }, now));
  }

  WantedEvidence wanted;
  Timestamp now = utc_now();
};

TEST_F(WhatAgentsAreAskedFor, IsOneRequestForAllRanksThatAreInDoubt) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::stacks, {"a"}, {3}),
                                missing(EvidenceKind::stacks, {"a", "b"}, {5})};
  note(diagnosis);
  const auto of_a = take("a");
  ASSERT_THAT(of_a, SizeIs(1));
  EXPECT_THAT(of_a[0].ranks, ElementsAre(3, 5));
  const auto of_b = take("b");
  ASSERT_THAT(of_b, SizeIs(1));
  EXPECT_THAT(of_b[0].ranks, ElementsAre(5));
}

TEST_F(WhatAgentsAreAskedFor, IsAskedAgainLaterIfItWasRefusedAFewTimes) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::kernel_log, {"a"})};
  note(diagnosis);
  std::set<std::string> ids;
  for (int asking = 0; asking < 3; ++asking) {
    const auto taken = take();
    ASSERT_THAT(taken, SizeIs(1)) << asking;
    EXPECT_TRUE(ids.insert(taken[0].id).second);
    answer(taken[0], EvidenceOutcome::refused);
    EXPECT_THAT(take(), IsEmpty());
    now += seconds(301);
  }
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(WhatAgentsAreAskedFor, IsAskedAgainIfMoreRanksAreInDoubt) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::stacks, {"a"}, {3})};
  note(diagnosis);
  answer(take().at(0), EvidenceOutcome::sent);
  now += seconds(301);
  note(diagnosis);
  EXPECT_THAT(take(), IsEmpty());
  diagnosis.missing_evidence[0].ranks = {3, 5};
  note(diagnosis);
  const auto again = take();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_THAT(again[0].ranks, ElementsAre(3, 5));
}

TEST_F(WhatAgentsAreAskedFor, IsASecondReportOfNcclsRasOnlyAfterAWhile) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::ras, {"a", "b", "c"})};
  note(diagnosis);
  const auto first = take("a");
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(take("b"), IsEmpty());
  answer(first[0], EvidenceOutcome::sent);
  EXPECT_THAT(take("b"), IsEmpty());
  now += seconds(301);
  const auto second = take("b");
  ASSERT_THAT(second, SizeIs(1));
  answer(second[0], EvidenceOutcome::sent);
  now += seconds(301);
  EXPECT_THAT(take("c"), IsEmpty());
}

// Stacks are gone first; so in a large job they must not be cut off by what keeps.
TEST_F(WhatAgentsAreAskedFor, IsWhatPerishesFirstIfTheJobIsLarge) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 3000; ++i) hosts.push_back(fmt::format("node-{}", i));
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::kernel_log, hosts),
                                missing(EvidenceKind::stacks, hosts)};
  note(diagnosis);
  const auto taken = take("node-2999");
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(taken[0].kind, EvidenceKind::stacks);
}

TEST_F(WhatAgentsAreAskedFor, IsAskedAnewInTheNextAttempt) {
  Diagnosis diagnosis = hang(1);
  diagnosis.missing_evidence = {missing(EvidenceKind::stacks, {"a"})};
  note(diagnosis);
  const auto first = take();
  answer(first.at(0), EvidenceOutcome::sent);
  diagnosis.attempt = 2;
  note(diagnosis);
  const auto second = take();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_NE(second[0].id, first[0].id);
}

TEST_F(WhatAgentsAreAskedFor, IsNothingOnceItIsWithdrawnAndWhatWasAskedIsStillTold) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::stacks, {"a"}),
                                missing(EvidenceKind::kernel_log, {"a", "b"})};
  note(diagnosis);
  EXPECT_THAT(take("a"), SizeIs(2));
  wanted.withdraw("llama");
  EXPECT_THAT(take("b"), IsEmpty());
  now += seconds(301);
  EXPECT_THAT(take("a"), IsEmpty());
  EXPECT_THAT(wanted.asked("llama"), SizeIs(2));
}

// A job that was sent once is not judged again when its lines are of the past.
TEST_F(WhatAgentsAreAskedFor, IsNothingOfAJobWhoseLinesAreOfThePast) {
  Diagnosis diagnosis = hang();
  diagnosis.missing_evidence = {missing(EvidenceKind::stacks, {"a"})};
  note(diagnosis);
  now += seconds(1001);
  EXPECT_THAT(take(), IsEmpty());
  note(diagnosis);
  EXPECT_THAT(take(), SizeIs(1));
}

}  // namespace
}  // namespace faultline
