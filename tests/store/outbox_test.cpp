// Which messages receivers get about findings, from the first to the last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commits.h"
#include "store/store.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Timestamp at(int minute) { return kNoon + minutes(minute); }
constexpr minutes kHold{1};
constexpr minutes kKeep{10};

Finding finding(std::string id, Severity severity = Severity::critical,
                std::vector<std::string> explains = {}) {
  return {.id = std::move(id),
          .cause = Cause::gpu_off_bus,
          .severity = severity,
          .subject = {.hosts = {"n1"}},
          .explains = std::move(explains)};
}

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() { use_routing(store); }

  void use_routing(Store& in) {
    in.set_routing({.route =
                        [this](const AlertSubject& subject) {
                          std::vector<Delivery> all;
                          for (const std::string& receiver : receivers)
                            all.push_back(
                                {receiver, std::string(subject.incident), subject.now + kHold});
                          return all;
                        },
                    .keep = kKeep});
  }

  // Every finding is a cause.
  void find(const std::vector<Finding>& found, int minute, int attempt = 1) {
    Standing standing;
    for (const Finding& one : found) standing.causes.insert(one.id);
    store.reconcile_findings("llama", attempt, found, at(minute), standing);
  }

  // "f1 fires", "f1 resolved": the messages that the receiver gets at that minute, with this
  // outcome.
  std::vector<std::string> told(int minute, const std::string& receiver = "pager",
                                DeliveryOutcome outcome = DeliveryOutcome::accepted) {
    std::vector<std::string> said;
    for (const WaitingGroup& group : store.waiting_groups(receiver)) {
      std::vector<std::int64_t> ids;
      for (const OutboxRow& row : store.begin_delivery(receiver, group.group, at(minute))) {
        if (!row.waits) continue;
        ids.push_back(row.id);
        said.push_back(row.finding.finding.id + (row.firing ? " fires" : " resolved"));
      }
      store.end_delivery(ids, outcome, at(minute));
    }
    return said;
  }

  std::vector<std::string> receivers{"pager"};
  TemporaryFolder folder;
  Store store{folder / "f.db"};
};

TEST_F(OutboxTest, TellsOnceWhatHasStoodForLongEnough) {
  find({finding("f1")}, 0);
  EXPECT_THAT(told(0), IsEmpty());
  EXPECT_THAT(told(1), ElementsAre("f1 fires"));
  EXPECT_THAT(told(2), IsEmpty());
  find({finding("f1")}, 3);
  EXPECT_THAT(told(60), IsEmpty());
}

TEST_F(OutboxTest, SaysNothingOfWhatWentBeforeItWasTold) {
  find({finding("f1")}, 0);
  find({}, 0);
  EXPECT_THAT(told(60), IsEmpty());
}

TEST_F(OutboxTest, TellsOfAnEndWhenItHasLasted) {
  find({finding("f1")}, 0);
  told(1);
  find({}, 2);
  EXPECT_THAT(told(11), IsEmpty());
  EXPECT_THAT(told(12), ElementsAre("f1 resolved"));
}

TEST_F(OutboxTest, SaysNothingOfWhatComesBackMeanwhile) {
  find({finding("f1")}, 0);
  told(1);
  for (int minute = 2; minute < 60; minute += 2) {
    find({}, minute);
    find({finding("f1")}, minute + 1);
    EXPECT_THAT(told(minute + 1), IsEmpty());
  }
}

TEST_F(OutboxTest, TellsAtOnceOfAnEndThatIsCertain) {
  find({finding("f1")}, 0);
  told(1);
  find({finding("f2")}, 2, 2);
  EXPECT_THAT(told(2), ElementsAre("f1 resolved"));
  EXPECT_EQ(store.findings({.id = "f1"}).findings[0].reason, "new_attempt");
}

TEST_F(OutboxTest, TellsBothStatesInOrderToAReceiverThatWasDown) {
  find({finding("f1")}, 0);
  EXPECT_THAT(told(1, "pager", DeliveryOutcome::unknown), ElementsAre("f1 fires"));
  find({finding("f2")}, 2, 2);
  EXPECT_THAT(told(2), ElementsAre("f1 fires"));
  EXPECT_THAT(told(2), ElementsAre("f1 resolved"));
}

TEST_F(OutboxTest, ForgetsWhatCannotHaveArrivedAndIsOver) {
  find({finding("f1")}, 0);
  told(1, "pager", DeliveryOutcome::unsent);
  find({}, 2);
  EXPECT_THAT(told(60), IsEmpty());
}

TEST_F(OutboxTest, HoldsAFloodOfFlappingToTwoRowsAReceiver) {
  find({finding("f1")}, 0);
  told(1, "pager", DeliveryOutcome::unknown);
  for (int minute = 2; minute < 50; ++minute)
    find(minute % 2 == 0 ? std::vector<Finding>{} : std::vector{finding("f1")}, minute);
  std::uint64_t rows = 0;
  for (const WaitingGroup& group : store.waiting_groups("pager")) rows += group.rows;
  EXPECT_LE(rows, 2U);
}

TEST_F(OutboxTest, KnowsReceiversApart) {
  receivers = {"pager", "chat"};
  find({finding("f1")}, 0);
  EXPECT_THAT(told(1, "pager"), ElementsAre("f1 fires"));
  EXPECT_THAT(told(2, "chat", DeliveryOutcome::unknown), ElementsAre("f1 fires"));
  EXPECT_THAT(told(3, "chat"), ElementsAre("f1 fires"));
  EXPECT_THAT(told(3, "pager"), IsEmpty());
}

TEST_F(OutboxTest, EndsAnAlertWhoseSeverityChangesAndBeginsAnother) {
  find({finding("f1", Severity::error)}, 0);
  told(1);
  find({finding("f1", Severity::critical)}, 2);
  std::vector<std::string> said;
  for (const OutboxRow& row : store.begin_delivery("pager", "if1", at(2)))
    said.push_back((row.severity == Severity::error ? "error " : "critical ") +
                   std::string(row.firing ? "fires" : "resolved"));
  EXPECT_THAT(said, ElementsAre("error resolved", "critical fires"));
}

TEST_F(OutboxTest, TellsTheSeverityThatHoldsWhenItIsTold) {
  find({finding("f1", Severity::error)}, 0);
  find({finding("f1", Severity::critical)}, 0);
  const auto rows = store.begin_delivery("pager", "if1", at(5));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].severity, Severity::critical);
}

TEST_F(OutboxTest, KeepsWhatAReceiverIsToBeToldAgain) {
  find({finding("f1"), finding("f2")}, 0);
  told(1);
  find({finding("f2")}, 2);
  told(12);
  const auto again = [&](int since) {
    std::vector<std::string> said;
    for (const OutboxRow& row : store.standing_rows("pager", at(since)))
      said.push_back(row.finding.finding.id + (row.firing ? " fires" : " resolved"));
    return said;
  };
  EXPECT_THAT(again(0), testing::UnorderedElementsAre("f2 fires", "f1 resolved"));
  EXPECT_THAT(again(30), ElementsAre("f2 fires")) << "its end was told for long enough";
}

TEST_F(OutboxTest, OutlivesTheProcess) {
  const auto file = folder / "other.db";
  {
    Store first(file);
    use_routing(first);
    Standing standing{.causes = {"f1"}};
    first.reconcile_findings("llama", 1, {finding("f1")}, at(0), standing);
  }
  Store again(file);
  use_routing(again);
  ASSERT_EQ(again.waiting_groups("pager").size(), 1U);
  EXPECT_EQ(again.begin_delivery("pager", "if1", at(1)).size(), 1U);
}

TEST_F(OutboxTest, IsSilentAboutWhatAnOperatorCallsWrong) {
  find({finding("f1")}, 0);
  told(1);
  store.review_finding("f1", {.verdict = ReviewVerdict::wrong, .who = "ann"}, at(2));
  EXPECT_THAT(told(2), ElementsAre("f1 resolved"));
  Finding again = finding("f1");
  again.count = 2;
  find({again}, 3);
  EXPECT_THAT(told(60), IsEmpty());
  const StoredFinding stored = store.findings({.id = "f1"}).findings[0];
  EXPECT_EQ(stored.reason, "wrong");
  EXPECT_EQ(stored.finding.state, FindingState::resolved);
  store.review_finding("f1", {.verdict = ReviewVerdict::reopened}, at(61));
  find({again}, 61);
  EXPECT_THAT(told(62), ElementsAre("f1 fires"));
}

TEST_F(OutboxTest, OpensWhatAnOperatorClosedWhenItIsSeenAgain) {
  Finding seen = finding("f1");
  seen.last_seen = at(0);
  find({seen}, 0);
  store.review_finding("f1", {.verdict = ReviewVerdict::closed}, at(2));
  find({seen}, 3);
  EXPECT_TRUE(store.findings({.id = "f1"}).findings[0].resolved);
  seen.last_seen = at(4);
  find({seen}, 5);
  EXPECT_FALSE(store.findings({.id = "f1"}).findings[0].resolved);
}

TEST_F(OutboxTest, ClosesAFailureWithAllItShowedItselfBy) {
  const std::vector<Finding> found{finding("f1", Severity::critical, {"f2"}), finding("f2"),
                                   finding("f3")};
  find(found, 0);
  told(1);
  store.review_finding("f1", {.verdict = ReviewVerdict::closed}, at(2));
  EXPECT_THAT(told(2), testing::UnorderedElementsAre("f1 resolved", "f2 resolved"));
  find(found, 3);
  EXPECT_THAT(told(60), IsEmpty());
  store.review_finding("f1", {.verdict = ReviewVerdict::reopened}, at(61));
  find(found, 61);
  EXPECT_THAT(told(62), testing::UnorderedElementsAre("f1 fires", "f2 fires"));
}

TEST_F(OutboxTest, LeavesAnAcknowledgedFindingOpen) {
  find({finding("f1")}, 0);
  const auto stored =
      store.review_finding("f1", {.verdict = ReviewVerdict::acknowledged, .who = "ann"}, at(1));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->review, "acknowledged");
  EXPECT_FALSE(stored->resolved);
  EXPECT_FALSE(store.review_finding("nobody", {}, at(1))) << "no such finding";
  ASSERT_EQ(store.review_tallies().size(), 1U);
  EXPECT_EQ(store.review_tallies()[0].verdict, "acknowledged");
}

TEST_F(OutboxTest, CountsHowOftenFindingsWereOpened) {
  find({finding("f1")}, 0);
  find({}, 1);
  find({finding("f1"), finding("f2")}, 2);
  const auto tallies = store.finding_tallies();
  ASSERT_EQ(tallies.size(), 1U);
  EXPECT_EQ(tallies[0].opened, 3U);
  EXPECT_EQ(tallies[0].open, 2U);
  EXPECT_EQ(tallies[0].last_changed, at(2));
}

TEST_F(OutboxTest, ListsChangesInTheirOrder) {
  find({finding("f1"), finding("f2")}, 0);
  const std::uint64_t before = store.last_change();
  find({finding("f1", Severity::error), finding("f2")}, 1);
  FindingFilter filter{.after = before, .by_change = true};
  const FindingPage page = store.findings(filter);
  ASSERT_EQ(page.findings.size(), 1U);
  EXPECT_EQ(page.findings[0].finding.id, "f1");
  EXPECT_GT(page.findings[0].change, before);
}

TEST_F(OutboxTest, EndsWithTheJob) {
  find({finding("f1")}, 0);
  told(1);
  Standing over{.causes = {"f1"}, .over = true};
  store.reconcile_findings("llama", 1, {finding("f1")}, at(2), over);
  EXPECT_THAT(told(2), ElementsAre("f1 resolved"));
  EXPECT_EQ(store.findings({.id = "f1"}).findings[0].reason, "job_ended");
}

}  // namespace
}  // namespace faultline
