// What happened when, in rows: hosts, the ranks that matter, all other ranks.
#include "rules/answer/time_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "job.h"
#include "rules/answer/diagnosis_forms.h"

namespace faultline {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Timestamp kStart = *parse_rfc3339("2026-04-01T12:00:00Z");

// A time from a log that prints whole seconds.
EventTime to_the_second(Timestamp time) { return EventTime::at(time, seconds(1)); }

// All ranks except those in `behind` make one more call, a minute after the last call of all ranks.
Job standing_job(int size, const std::vector<int>& behind, bool is_dated = true) {
  Job job;
  if (is_dated) job.clock = to_the_second(kStart);
  job.join_all(size);
  if (is_dated) job.clock = to_the_second(kStart + minutes(5));
  job.call(ranks(0, size), all_reduce(), 20);
  if (is_dated) job.clock = to_the_second(kStart + minutes(6));
  std::vector<int> others;
  for (const int rank : ranks(0, size))
    if (std::ranges::find(behind, rank) == behind.end()) others.push_back(rank);
  job.call(others, all_reduce());
  return job;
}

TimeRows rows_of(const Job& job) {
  const Diagnosis diagnosis = job.diagnosis();
  return time_rows_of(diagnosis, heard_of(job.state, diagnosis));
}

std::vector<std::string> names_of(const TimeRows& rows) {
  std::vector<std::string> names;
  for (const TimeRow& row : rows.rows) names.push_back(row.name);
  return names;
}

const TimeRow& row_called(const TimeRows& rows, const std::string& name) {
  static const TimeRow none;
  const auto row = std::ranges::find(rows.rows, name, &TimeRow::name);
  EXPECT_NE(row, rows.rows.end()) << name << " among " << testing::PrintToString(names_of(rows));
  return row == rows.rows.end() ? none : *row;
}

TEST(TimeRows, HaveTheRankThatIsBehindBelowItsHostAndAllOthersInOne) {
  const TimeRows rows = rows_of(standing_job(24, {13}));
  EXPECT_THAT(names_of(rows), ElementsAre("node-1", "rank 13", "23 other ranks"));
  const TimeRow& behind = rows.rows[1];
  EXPECT_EQ(behind.state, "behind");
  EXPECT_EQ(behind.host, "node-1");
  EXPECT_EQ(behind.note,
            "behind; heard 2026-04-01 12:00:00 to 12:05:00 UTC; last call AllReduce #20 of world, "
            "1 call behind");
  EXPECT_THAT(rows.rows[2].note, HasSubstr("ranks 0 to 12, 14 to 23; last heard at 2026-04-01 "
                                           "12:06:00 UTC; each: last call AllReduce #21"));
}

TEST(TimeRows, AreAsWideAsWhatStampsLeaveOpen) {
  const TimeRows rows = rows_of(standing_job(16, {3}));
  const TimeRow& rank = row_called(rows, "rank 3");
  EXPECT_EQ(rank.from, kStart);
  EXPECT_EQ(rank.surely_from, kStart + seconds(1));
  EXPECT_EQ(rank.surely_to, kStart + minutes(5));
  EXPECT_EQ(rank.to, kStart + minutes(5) + seconds(1));
}

TEST(TimeRows, OfSeveralRanksHaveWhatAllHaveInCommonAndWhatAnyHas) {
  Job job;
  job.clock = to_the_second(kStart);
  job.join_all(16);
  for (const int rank : ranks(0, 16)) {
    job.clock = EventTime::at(kStart + minutes(5) + seconds(rank), milliseconds(1));
    job.call({rank}, all_reduce(), rank == 7 ? 3 : 4);
  }
  const TimeRows rows = rows_of(job);
  const TimeRow& others = row_called(rows, "15 other ranks");
  EXPECT_EQ(others.surely_to, kStart + minutes(5));
  EXPECT_EQ(others.to, kStart + minutes(5) + seconds(15) + milliseconds(1));
  EXPECT_THAT(others.note, HasSubstr("last heard 2026-04-01 12:05:00 to 12:05:15 UTC"));
}

TEST(TimeRows, SayWhereNoLineCarriesADate) {
  Job job = standing_job(16, {5}, false);
  job.kernel("node-0", "something happened", to_the_second(kStart));
  const TimeRows rows = rows_of(job);
  const TimeRow& rank = row_called(rows, "rank 5");
  EXPECT_FALSE(rank.from || rank.to || rank.surely_from);
  EXPECT_THAT(rank.note, HasSubstr("behind; no line of it carries a date; last call AllReduce"));
  EXPECT_THAT(row_called(rows, "15 other ranks").note, HasSubstr("no line of them carries a date"));
}

TEST(TimeRows, SayWhichRankWasNeverHeard) {
  Job job;
  job.clock = to_the_second(kStart);
  for (const int rank : all_but(6, 8)) job.join(rank, "world", rank, 8);
  const TimeRows rows = rows_of(job);
  const TimeRow& rank = row_called(rows, "rank 6");
  EXPECT_EQ(rank.state, "unseen");
  EXPECT_EQ(rank.note, "never heard: no line of it was seen");
  EXPECT_FALSE(rank.from);
}

TEST(TimeRows, OfManyThatWereNeverHeardAreOne) {
  Job job;
  job.clock = to_the_second(kStart);
  job.join(0, "world", 0, 64);
  job.call({0}, all_reduce(), 5);
  const TimeRows rows = rows_of(job);
  for (const TimeRow& row : rows.rows)
    if (row.state == "unseen") {
      EXPECT_EQ(row.ranks.size(), 63U);
      EXPECT_THAT(row.note, HasSubstr("no line of them was seen"));
    }
  EXPECT_LE(rows.rows.size(), 4U);
}

// The first eight of these ranks would be chosen by nothing but their numbers.
TEST(TimeRows, OfMoreRanksThanAreShownChooseNone) {
  const std::vector<int> behind = ranks(8, 40);
  const TimeRows rows = rows_of(standing_job(128, behind));
  EXPECT_THAT(names_of(rows), testing::Contains(testing::AnyOf("32 ranks", "32 other ranks")));
  for (const TimeRow& row : rows.rows) {
    EXPECT_NE(row.kind, TimeRow::Kind::rank) << row.name;
    EXPECT_EQ(row.state == "behind", row.ranks.size() == 32) << row.name;
  }
}

TEST(TimeRows, OfALargeJobAreFew) {
  const Job job = standing_job(1024, {77, 500, 900});
  const Diagnosis diagnosis = job.diagnosis();
  const TimeRows rows = time_rows_of(diagnosis, heard_of(job.state, diagnosis));
  EXPECT_THAT(names_of(rows),
              testing::IsSupersetOf({"rank 77", "rank 500", "rank 900", "1,021 other ranks"}));
  EXPECT_LE(rows.rows.size(), 8U);
}

TEST(TimeRows, CountAProcessWhoseRankIsNotKnownAsOne) {
  Job job = standing_job(16, {2});
  Heard heard = heard_of(job.state, job.diagnosis());
  heard.ranks.push_back({.rank = -1, .host = "node-9"});
  const TimeRows rows = time_rows_of(job.diagnosis(), heard);
  EXPECT_THAT(names_of(rows), testing::Contains("15 other ranks, 1 process of no known rank"));
}

// A stamp may have a fraction and still be known only to a second, such as the stamp of a kernel
// whose start is known to the second.
TEST(TimeRows, MarkAnEventAsExactlyAsItsLineIsKnown) {
  for (const auto& [open, width] : {std::pair{seconds(3), seconds(3)}, {seconds(1), seconds(1)}}) {
    Job job = standing_job(16, {11});
    job.xid("node-1", Job::gpu_of(11), 79, EventTime::at(kStart + milliseconds(365'250), open));
    const Diagnosis diagnosis = job.diagnosis();
    const TimeRows rows = rows_of(job);
    const TimeRow& rank = row_called(rows, "rank 11");
    const auto mark =
        std::ranges::find(rank.marks, diagnosis.root_causes.front().id, &TimeMark::finding);
    ASSERT_NE(mark, rank.marks.end());
    EXPECT_EQ(mark->from, kStart + milliseconds(365'250));
    EXPECT_EQ(mark->to - mark->from, width);
  }
}

TEST(TimeRows, ThatNoLineIsKnownOfAreAsExactAsTheirDigits) {
  Job job = standing_job(16, {11});
  job.xid("node-1", Job::gpu_of(11), 79, to_the_second(kStart + minutes(6)));
  const TimeRows rows = time_rows_of(job.diagnosis());
  ASSERT_FALSE(rows.rows.empty());
  ASSERT_FALSE(rows.rows.front().marks.empty());
  const TimeMark& mark = rows.rows.front().marks.front();
  EXPECT_EQ(mark.to - mark.from, seconds(1));
}

TEST(TimeRows, PutAClockRightAsFarAsAnyIsTrusted) {
  Job job;
  const auto at = [&](int rank, Timestamp time) {
    job.clock = EventTime::at(time + (rank / 8 == 1 ? minutes(20) : minutes(0)), milliseconds(1));
  };
  for (const int rank : ranks(0, 32)) {
    at(rank, kStart);
    job.join(rank, "world", rank, 32);
  }
  for (const int rank : ranks(0, 32)) {
    at(rank, kStart + minutes(5));
    job.call({rank}, all_reduce(), rank == 9 ? 3 : 4);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.clock_offsets.size(), 1U);
  const TimeRows rows = rows_of(job);
  const TimeRow& rank = row_called(rows, "rank 9");
  EXPECT_EQ(rank.surely_to, kStart + minutes(5) - seconds(2));
  EXPECT_EQ(rank.to, kStart + minutes(5) + milliseconds(1) + seconds(2));
  EXPECT_THAT(rank.note, HasSubstr("heard 2026-04-01 12:00:00 to 12:05:00 UTC"));
  EXPECT_LT(*rows.to - *rows.from, minutes(5)) << "no clock of the host's own stretches it";
  const TimeRow& host = row_called(rows, "node-1");
  EXPECT_LE(*host.to, kStart + minutes(6));
}

TEST(TimeRows, AreSureOfNothingWhereSomeStampsNameNoZone) {
  Job job;
  job.clock = EventTime::at(kStart + std::chrono::hours(7), seconds(1), true);
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 20);
  job.call(all_but(11, 16), all_reduce());
  Job alike = job;
  job.xid("node-1", Job::gpu_of(11), 79, to_the_second(kStart + minutes(6)));
  const TimeRows rows = rows_of(job);
  const TimeRow& rank = row_called(rows, "rank 11");
  EXPECT_TRUE(rank.from);
  EXPECT_FALSE(rank.surely_from || rank.surely_to);
  EXPECT_THAT(rank.note, Not(HasSubstr("UTC")));
  EXPECT_THAT(rows.doubts, testing::Contains(HasSubstr("name no time zone")));
  EXPECT_FALSE(row_called(rows, "node-1").surely_from) << "whose logs name a zone is not known";
  EXPECT_LT(*rows.from, kStart + minutes(6)) << "what is sure is drawn";
  // Stamps without a zone can still be ordered among themselves.
  const TimeRows among = rows_of(alike);
  EXPECT_THAT(among.doubts, Not(testing::Contains(HasSubstr("name no time zone"))));
}

TEST(TimeRows, AreHostsAloneWhereNothingOfRanksIsKnown) {
  Job job;
  job.xid("node-1", Job::gpu_of(11), 79, to_the_second(kStart));
  job.xid("node-2", Job::gpu_of(3), 48, to_the_second(kStart + seconds(9)));
  for (const TimeRow& row : rows_of(job).rows) EXPECT_EQ(row.kind, TimeRow::Kind::host);
}

TEST(TimeRows, OfAJobThatIsWellNameNobody) {
  Job job;
  job.clock = to_the_second(kStart);
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 50);
  for (const int rank : ranks(0, 16)) job.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_THAT(rows_of(job).rows, IsEmpty());
}

TEST(TimeRows, NameNobodyForSureWhereTheCauseIsOnlyPossible) {
  for (const auto& [confidence, words] :
       {std::pair{0.9, "named by the cause; "}, {0.6, "named by the possible cause; "}}) {
    const Job job = standing_job(16, {});
    Diagnosis diagnosis = job.diagnosis();
    diagnosis.ranks.behind.clear();
    diagnosis.root_causes = {{.id = "f",
                              .title = "something of rank 4",
                              .confidence = confidence,
                              .subject = {.hosts = {"node-0"}, .ranks = {4}},
                              .first_seen = kStart}};
    diagnosis.timeline = {{.time = kStart, .host = "node-0", .what = "x", .finding = "f"}};
    const TimeRows rows = time_rows_of(diagnosis, heard_of(job.state, diagnosis));
    EXPECT_THAT(row_called(rows, "rank 4").note, testing::StartsWith(words));
    EXPECT_EQ(row_called(rows, "rank 4").state, "");
  }
}

TEST(TimeRows, TakeNoLineAtItsWordThatSaysThereAreTwoBillionRanks) {
  const Job job = standing_job(16, {3});
  Diagnosis diagnosis = job.diagnosis();
  diagnosis.ranks.expected = 2'000'000'000;
  EXPECT_THAT(heard_of(job.state, diagnosis).unheard, IsEmpty());
  diagnosis.ranks.expected = 18;
  EXPECT_THAT(heard_of(job.state, diagnosis).unheard, ElementsAre(16, 17));
}

TEST(TimeRows, AreThoseOfTheFileOfHtmlWithNothingThatRuns) {
  Job job = standing_job(24, {13});
  Diagnosis diagnosis = job.diagnosis();
  Heard heard = heard_of(job.state, diagnosis);
  for (HeardRank& rank : heard.ranks) rank.did += "<script>alert(1)</script>";
  const std::string page = to_html(diagnosis, ranks_of(job.state, diagnosis), heard);
  EXPECT_THAT(page, HasSubstr("<li class=\"rank\"><span class=\"name\" title=\"rank 13\">rank 13 "
                              "<span class=\"cell sample behind\" aria-hidden=\"true\">◀</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"note dim\">behind; heard 2026-04-01 12:00:00 to "
                              "12:05:00 UTC; last call AllReduce #20 of world"));
  EXPECT_THAT(page, HasSubstr("23 other ranks"));
  EXPECT_THAT(page, HasSubstr("<rect class=\"span open\""));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace faultline
