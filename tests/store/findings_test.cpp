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

Finding finding(std::string id, std::string title = "") {
  return {.id = std::move(id),
          .cause = Cause::gpu_off_bus,
          .title = std::move(title),
          .severity = Severity::critical,
          .confidence = 0.98,
          .subject = {.hosts = {"n1"}, .ranks = {27}},
          .first_seen = kNoon,
          .evidence = {{.source = "dmesg", .line = 812, .text = "Xid 79"}}};
}

class FindingsTest : public testing::Test {
 protected:
  std::size_t reconcile(const std::vector<Finding>& found, int minute, int attempt = 1) {
    return store.reconcile_findings("llama", attempt, found, at(minute));
  }
  std::vector<std::string> ids(const FindingFilter& filter = {}) {
    std::vector<std::string> ids;
    for (const StoredFinding& stored : store.findings(filter).findings)
      ids.push_back(stored.finding.id);
    return ids;
  }
  StoredFinding only(const std::string& id) {
    const FindingPage page = store.findings({.id = id});
    return page.findings.size() == 1 ? page.findings[0] : StoredFinding{};
  }

  TemporaryFolder folder;
  Store store{folder / "f.db"};
};

TEST_F(FindingsTest, AreOpenedWhenTheyAppear) {
  EXPECT_EQ(reconcile({finding("a"), finding("b")}, 0), 2u);
  const StoredFinding a = only("a");
  EXPECT_EQ(a.finding, finding("a"));
  EXPECT_EQ(a.job, "llama");
  EXPECT_EQ(a.attempt, 1);
  EXPECT_EQ(a.opened, at(0));
  EXPECT_EQ(a.resolved, std::nullopt);
}

TEST_F(FindingsTest, AreUpdatedWhenTheyChange) {
  reconcile({finding("a"), finding("b")}, 0);
  EXPECT_EQ(reconcile({finding("a", "now we know"), finding("b")}, 1), 0u);
  EXPECT_EQ(only("a").finding.title, "now we know");
  EXPECT_EQ(only("a").opened, at(0));
  EXPECT_THAT(ids({.since = at(1)}), ElementsAre("a")) << "b did not change";
}

TEST_F(FindingsTest, AreResolvedWhenTheyAreGone) {
  reconcile({finding("a"), finding("b")}, 0);
  EXPECT_EQ(reconcile({finding("b")}, 1), 0u);
  EXPECT_EQ(only("a").resolved, at(1));
  EXPECT_EQ(only("a").finding.state, FindingState::resolved);
  reconcile({finding("b")}, 2);
  EXPECT_EQ(only("a").resolved, at(1)) << "once is enough";
  EXPECT_THAT(ids({.state = FindingState::open}), ElementsAre("b"));
  EXPECT_THAT(ids({.state = FindingState::resolved}), ElementsAre("a"));
}

TEST_F(FindingsTest, AreReopenedWhenTheyComeBack) {
  reconcile({finding("a")}, 0);
  reconcile({}, 1);
  EXPECT_EQ(reconcile({finding("a")}, 2), 1u);
  EXPECT_EQ(only("a").opened, at(2));
  EXPECT_EQ(only("a").resolved, std::nullopt);
  EXPECT_EQ(only("a").finding.state, FindingState::open);
}

TEST_F(FindingsTest, MayBeFoundResolved) {
  Finding over = finding("a");
  over.state = FindingState::resolved;
  EXPECT_EQ(reconcile({over}, 0), 0u);
  EXPECT_EQ(only("a").resolved, at(0));
  EXPECT_EQ(only("a").reason, "counter_stopped");
  EXPECT_EQ(reconcile({finding("a")}, 1), 1u);
  EXPECT_EQ(reconcile({over}, 2), 0u);
  EXPECT_EQ(only("a").resolved, at(2));
}

TEST_F(FindingsTest, OfOtherJobsAreLeftAlone) {
  store.reconcile_findings("other", 1, {finding("a")}, at(0));
  reconcile({finding("a")}, 0);
  reconcile({}, 1);
  const auto page = store.findings({});
  ASSERT_EQ(page.findings.size(), 2u);
  for (const StoredFinding& stored : page.findings)
    EXPECT_EQ(stored.resolved.has_value(), stored.job == "llama");
}

TEST_F(FindingsTest, SurviveARestart) {
  const auto file = folder / "second.db";
  Store(file).reconcile_findings("llama", 1, {finding("a")}, at(0));
  Store again(file);
  ASSERT_EQ(again.findings({}).findings.size(), 1u);
  EXPECT_EQ(again.findings({}).findings[0].finding, finding("a"));
}

TEST_F(FindingsTest, AreFilteredByWhatIsAskedFor) {
  Finding other = finding("b");
  other.cause = Cause::collective_rank_behind;
  other.severity = Severity::error;
  other.subject = {.hosts = {"n2", "n3"}, .ranks = {2, 7}};
  reconcile({finding("a"), other}, 0);
  struct Case {
    const char* why;
    FindingFilter filter;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"nothing asked", {}, {"a", "b"}},
      {"job", {.job = "llama"}, {"a", "b"}},
      {"another job", {.job = "x"}, {}},
      {"id", {.id = "b"}, {"b"}},
      {"class", {.cause = "gpu.off_bus"}, {"a"}},
      {"severity", {.severity = Severity::error}, {"b"}},
      {"the second host", {.host = "n3"}, {"b"}},
      {"part of a host's name", {.host = "n"}, {}},
      {"rank", {.rank = 27}, {"a"}},
      {"a digit of a rank", {.rank = 2}, {"b"}},
      {"since then", {.since = at(0)}, {"a", "b"}},
      {"since later", {.since = at(1)}, {}},
      {"everything at once",
       {.job = "llama", .id = "b", .state = FindingState::open, .host = "n2", .rank = 7},
       {"b"}},
      {"a quote is no syntax", {.job = "' OR 1 = 1 --"}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(ids(c.filter), c.expected);
  }
}

TEST_F(FindingsTest, ComeInPages) {
  std::vector<Finding> many;
  for (int i = 0; i < 10; ++i) many.push_back(finding("f" + std::to_string(i)));
  reconcile(many, 0);
  std::vector<std::string> seen;
  FindingFilter filter{.limit = 4};
  std::size_t pages = 0;
  for (;;) {
    const FindingPage page = store.findings(filter);
    ++pages;
    for (const StoredFinding& stored : page.findings) seen.push_back(stored.finding.id);
    // A finding that appears meanwhile comes at the end; none is seen twice or left out.
    if (pages == 1) {
      many.push_back(finding("late"));
      reconcile(many, 1);
    }
    if (!page.next) break;
    filter.after = *page.next;
  }
  EXPECT_EQ(pages, 3u);
  EXPECT_THAT(seen,
              ElementsAre("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "late"));
  filter.after = 0;
  filter.limit = 11;
  EXPECT_EQ(store.findings(filter).next, std::nullopt) << "a full last page is the last one";
}

TEST_F(FindingsTest, KeepTextsThatAreNoUtf8Readable) {
  Finding odd = finding("a", "caf\xe9 \x1b[31m");
  reconcile({odd}, 0);
  reconcile({odd}, 1);
  EXPECT_EQ(only("a").finding.title, "caf\xef\xbf\xbd \x1b[31m");
  EXPECT_THAT(ids({.since = at(1)}), IsEmpty()) << "the same again is no change";
}

TEST_F(FindingsTest, OfOneIdAreOne) {
  EXPECT_EQ(reconcile({finding("a", "first"), finding("a", "second")}, 0), 1u);
  EXPECT_EQ(only("a").finding.title, "first");
}

TEST_F(FindingsTest, OfAnEarlierAttemptAreResolvedByTheNext) {
  reconcile({finding("a")}, 0, 1);
  EXPECT_EQ(reconcile({finding("b")}, 1, 2), 1u);
  EXPECT_EQ(only("a").resolved, at(1));
  EXPECT_EQ(only("b").resolved, std::nullopt);
}

}  // namespace
}  // namespace faultline
