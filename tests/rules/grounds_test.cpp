#include "rules/knowledge/grounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/embedded.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::string built_in_text() {
  return read_catalog_text(TESTS_DIR "/../rules/knowledge/catalog/grounds.yaml").text;
}

Grounds built_in() { return read_grounds("grounds.yaml", built_in_text()); }

// The row of this name, such as "  xid: {...}", with its line end.
std::string row_of(const std::string& name) {
  const std::string text = built_in_text();
  const std::size_t at = text.find("\n  " + name + ": {") + 1;
  return text.substr(at, text.find('\n', at) + 1 - at);
}

std::string with(const std::string& what, const std::string& by) {
  std::string text = built_in_text();
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string complaint_about(const std::string& text) {
  try {
    read_grounds("grounds.yaml", text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Grounds, ADoubtMakesLessSureAndSupportMakesSurer) {
  const Grounds grounds = built_in();
  const Sureness alone = Claim::xid;
  Sureness doubted = alone;
  doubted.add(Ground::rebooted_since);
  Sureness borne_out = alone;
  borne_out.add(Ground::borne_out);
  EXPECT_LT(grounds.confidence(doubted), grounds.confidence(alone));
  EXPECT_GT(grounds.confidence(borne_out), grounds.confidence(alone));
}

TEST(Grounds, TheSameGroundCountsOnceAndTheOrderDoesNotMatter) {
  const Grounds grounds = built_in();
  Sureness once = Claim::xid;
  once.add(Ground::rebooted_since);
  once.add(Ground::explains_nothing);
  once.add(Ground::log_torn);
  Sureness twice = Claim::xid;
  twice.add(Ground::log_torn);
  twice.add(Ground::explains_nothing);
  twice.add(Ground::rebooted_since);
  twice.add(Ground::rebooted_since);
  EXPECT_DOUBLE_EQ(grounds.log_odds(once), grounds.log_odds(twice));
}

TEST(Grounds, NothingIsStatedAsCertain) {
  Sureness sure{Claim::signature, 1.0};
  sure.add(Ground::explains_the_stop);
  sure.add(Ground::borne_out);
  sure.add(Ground::common_end);
  EXPECT_LE(built_in().confidence(sure), limits::most_stated);
}

TEST(Grounds, WhereTheHostIsNotKnownNobodyIsStatedAsSurelyAsOnARank) {
  const Grounds grounds = built_in();
  for (const Claim claim : {Claim::xid, Claim::sxid, Claim::signature}) {
    Sureness sure{claim, claim == Claim::signature ? std::optional(0.97) : std::nullopt};
    sure.add(Ground::host_unknown);
    EXPECT_LT(grounds.confidence(sure), 0.9);
    sure = claim;
    sure.add(Ground::ranks_unknown);
    EXPECT_LT(grounds.confidence(sure), limits::least_to_blame);
  }
}

TEST(Grounds, EvidenceThatNoRealLogHasHadIsStatedBelowNineTenthsUnlessSomethingBearsItOut) {
  const Grounds grounds = built_in();
  Sureness unseen = Claim::call_skipped;
  unseen.add(Ground::explains_the_stop);
  EXPECT_LT(grounds.confidence(unseen), 0.9);
  EXPECT_THAT(grounds.steps(unseen).back().why, HasSubstr(kUnseenEvidence));
  unseen.add(Ground::borne_out);
  EXPECT_GT(grounds.confidence(unseen), 0.9);
  Sureness seen = Claim::xid;
  EXPECT_GT(grounds.confidence(seen), 0.9);
  const Grounds since =
      read_grounds("grounds.yaml",
                   with("call_skipped: {prior: 0.96, unseen: true", "call_skipped: {prior: 0.96"));
  EXPECT_GT(since.confidence(Claim::call_skipped), 0.9);
}

TEST(Grounds, TheStepsAreTheSumAndNameEachTerm) {
  const Grounds grounds = built_in();
  Sureness sure = Claim::rank_behind;
  sure.add(Ground::explains_the_stop);
  sure.add(Ground::log_torn);
  const std::vector<ConfidenceStep> steps = grounds.steps(sure);
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_THAT(steps[1].why, HasSubstr("accounts for what stopped the job"));
  EXPECT_THAT(steps[2].why, HasSubstr("ends inside a line"));
  EXPECT_GT(steps[1].confidence, steps[0].confidence);
  EXPECT_LT(steps[2].confidence, steps[1].confidence);
  EXPECT_DOUBLE_EQ(steps[2].confidence, rounded_confidence(grounds.confidence(sure)));
}

TEST(Grounds, AFileThatIsWrongIsRefusedWithItsLine) {
  EXPECT_THAT(complaint_about(with("  host_unknown:", "  host_unheard_of:")),
              HasSubstr("unknown name \"host_unheard_of\""));
  EXPECT_THAT(complaint_about(with(row_of("xid"), "")), HasSubstr("\"xid\" is missing"));
  EXPECT_THAT(complaint_about(with("prior: 0.", "prior: 3.")), HasSubstr("between 0 and 1"));
  EXPECT_THAT(complaint_about(with("unseen: true", "unseen: maybe")),
              HasSubstr("use true or false"));
  EXPECT_THAT(complaint_about("company: {}\ngrounds:\n  - a\n"),
              AllOf(StartsWith("grounds.yaml:3"), HasSubstr("is not a mapping")));
  EXPECT_THAT(complaint_about(with("weight: -", "weight: much ")), HasSubstr("is not a number"));
}

}  // namespace
}  // namespace faultline
