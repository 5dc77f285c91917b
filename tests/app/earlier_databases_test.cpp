// Databases that earlier code wrote (f34a4a5d, be796fd6), one of each form that batches had before
// today's. It read the logs that are packed beside them, and of the last log two thirds.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/reader.h"
#include "model/json.h"
#include "rules/answer/diagnosis.h"
#include "service/read_commit.h"
#include "store/store.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr Timestamp kReceived = Timestamp(std::chrono::seconds(1'772'535'600));

std::vector<std::string> logs_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder).string());
  std::ranges::sort(names);
  return names;
}

// The commit that begins where the stored source stands, and ends with the log.
Commit rest_of(const Source& source, const Cursor& stored, const std::string& text) {
  Reader reader(stored, kReceived);
  reader.feed(std::string_view(text).substr(stored.offset));
  reader.close();
  Commit commit = take_commit(reader, source, stored.carry);
  commit.received = kReceived;
  commit.complete = true;
  return commit;
}

// The verdict, the causes and each rank. Of other lines the readers of then told less.
std::string told_by(const JobState& job) {
  static const Catalog catalog = load_catalog();
  const Diagnosis diagnosis = diagnose(job, catalog, {.now = kReceived + std::chrono::hours(1)});
  const boost::json::value answer = to_json(diagnosis);
  std::string told = boost::json::serialize(answer.at("verdict")) + "\n" +
                     boost::json::serialize(answer.at("summary")) + "\n";
  for (const boost::json::value& cause : answer.at("root_causes").as_array())
    told += boost::json::serialize(cause.at("class")) +
            boost::json::serialize(cause.at("subject")) + "\n";
  for (const RankView& rank : ranks_of(job, diagnosis))
    told += boost::json::serialize(to_json(rank)) + "\n";
  return told;
}

class EarlierDatabase : public testing::TestWithParam<const char*> {};

TEST_P(EarlierDatabase, IsMigratedGoesOnAndTellsWhatReadingTheLogsTodayTells) {
  Workshop workshop;
  workshop.make("tar --zstd -xf " TESTS_DIR "/fixtures/earlier_databases.tar.zst && touch out");
  const fs::path logs = workshop.folder() / "logs";
  const std::vector<std::string> names = logs_in(logs);
  JobState today("old");
  for (const std::string& name : names) {
    const Source source{.job = "old", .name = name, .host = ""};
    const Commit whole = rest_of(source, {}, read_file(logs / name));
    today.apply(source, whole.batch, kReceived);
  }

  Store store(workshop.folder() / GetParam());
  ASSERT_EQ(store.sources("old").size(), names.size());
  const auto open = store.source("old", names.back());
  ASSERT_TRUE(open.has_value());
  const std::string text = read_file(logs / names.back());
  ASSERT_LT(open->position.offset, text.size());
  store.submit(rest_of(open->source,
                       {open->position.offset, open->position.lines, open->position.carry}, text),
               [](const auto&, const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
  store.drain();
  JobState upgraded("old");
  const auto damaged = store.replay(
      "old", [](std::string_view) { FAIL() << "calls were not summed up then"; },
      [&](const StoredBatch& each) { upgraded.apply(each.source, each.batch, each.received); });
  EXPECT_TRUE(damaged.empty());
  EXPECT_EQ(told_by(upgraded), told_by(today));
}

INSTANTIATE_TEST_SUITE_P(Forms, EarlierDatabase,
                         testing::Values("without_subsystems.db", "without_call_times.db"),
                         [](const auto& file) {
                           return std::string(file.param, std::string_view(file.param).find('.'));
                         });

}  // namespace
}  // namespace faultline
