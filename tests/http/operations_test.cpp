// What each rank of a communicator called, as the real server tells it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "curl.h"
#include "model/ranks.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OperationsOfServer : public testing::Test {
 protected:
  // Simulates the scenario, and sends its logs as the job of that name.
  void simulate(const std::string& scenario, const std::string& flags = "--nodes 2") {
    workshop.make(
        fmt::format("'{}' simulate --scenario {} {} --out {} >&2 && tar -C {}/logs -cf out .",
                    FAULTLINE_BINARY, scenario, flags, scenario, scenario));
    const Reply reply =
        curl(server, fmt::format("/api/v1/ingest?job={}&source=logs&final=true", scenario),
             "-T " + (workshop.folder() / "out").string());
    ASSERT_EQ(reply.status, 200) << reply.body;
  }

  static std::string path_of(const std::string& job, const std::string& id) {
    std::string name;
    for (const char c : id)
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c)
                                                               : fmt::format("%{:02X}", c);
    return fmt::format("/api/v1/jobs/{}/communicators/{}/operations", job, name);
  }

  std::vector<std::string> ids(const std::string& job, const char* list = "communicators") {
    std::vector<std::string> all;
    const json::object detail = plain_get(server, "/api/v1/jobs/" + job).json();
    for (const json::value& one : detail.at(list).as_array())
      all.emplace_back(one.at("id").as_string());
    return all;
  }

  // The communicator of all ranks.
  std::string world(const std::string& job) {
    const json::object detail = plain_get(server, "/api/v1/jobs/" + job).json();
    const json::array& all = detail.at("communicators").as_array();
    const auto largest = std::ranges::max_element(
        all, {}, [](const json::value& one) { return one.at("nranks").as_int64(); });
    return std::string(largest->at("id").as_string());
  }

  json::object operations(const std::string& job, const std::string& id,
                          const std::string& query = "") {
    const Reply reply = plain_get(server, path_of(job, id) + query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }

  static std::vector<int> ranks_in(const json::value& members) {
    return ranks_of(members.at("ranks").as_string());
  }

  // All operations of the communicator that the title of the first cause names.
  json::object in_title(const std::string& job, const char* list, const std::string& what) {
    const json::object diagnosis = plain_get(server, "/api/v1/jobs/" + job + "/diagnosis").json();
    const std::string title(diagnosis.at("root_causes").at(0).at("title").as_string());
    for (const std::string& id : ids(job, list))
      if (title.find(what + id) != std::string::npos)
        return operations(job, id, "?from=0&limit=1000");
    ADD_FAILURE() << "none is named by " << title;
    return {};
  }

  // The first position that not all ranks reached.
  static const json::value& first_missed(const json::object& answer) {
    const json::array& all = answer.at("operations").as_array();
    const auto found = std::ranges::find_if(all, [](const json::value& position) {
      return position.at("not_reached").at("members").as_int64() > 0;
    });
    EXPECT_NE(found, all.end());
    return *found;
  }

  // How often each rank had not reached a position.
  std::map<int, std::uint64_t> lacks(const std::string& job, const std::string& id) {
    std::map<int, std::uint64_t> all;
    std::string cursor;
    for (int page = 0; page < 100; ++page) {
      const json::object answer = operations(job, id, "?from=0&limit=1000" + cursor);
      for (const json::value& position : answer.at("operations").as_array())
        for (const int rank : ranks_in(position.at("not_reached"))) ++all[rank];
      if (answer.at("next_cursor").is_null()) break;
      cursor = "&cursor=" + std::string(answer.at("next_cursor").as_string());
    }
    return all;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder(), {"--stall-after", "0s"}};
};

TEST_F(OperationsOfServer, ShowWhoIsBehind) {
  simulate("rank_behind");
  const json::object diagnosis = plain_get(server, "/api/v1/jobs/rank_behind/diagnosis").json();
  const json::value& cause = diagnosis.at("root_causes").at(0);
  const json::object answer = in_title("rank_behind", "communicators", "communicator ");
  EXPECT_EQ(answer.at("basis"), "counted");
  EXPECT_EQ(answer.at("as_of"), diagnosis.at("as_of"));
  EXPECT_EQ(answer.at("first_known"), 1);
  EXPECT_TRUE(answer.at("diverged_at").is_null());
  const json::value& missed = first_missed(answer);
  EXPECT_THAT(cause.at("title").as_string(),
              HasSubstr(std::string(missed.at("label").as_string()) + " of communicator"));
  EXPECT_THAT(ranks_in(missed.at("not_reached")),
              ElementsAre(cause.at("subject").at("ranks").at(0).as_int64()));
  EXPECT_EQ(missed.at("differs"), false);
}

TEST_F(OperationsOfServer, ShowWhoCalledSomethingElse) {
  simulate("collective_mismatch_count");
  const json::object diagnosis =
      plain_get(server, "/api/v1/jobs/collective_mismatch_count/diagnosis").json();
  const json::value& cause = diagnosis.at("root_causes").at(0);
  const std::string id(cause.at("subject").at("communicators").at(0).as_string());
  const json::object whole = operations("collective_mismatch_count", id);
  const std::int64_t at = whole.at("diverged_at").to_number<std::int64_t>();
  const json::object answer =
      operations("collective_mismatch_count", id, fmt::format("?from={}&to={}", at - 1, at));
  ASSERT_EQ(answer.at("operations").as_array().size(), 2U);
  EXPECT_EQ(answer.at("operations").at(0).at("differs"), false);
  const json::value& odd = answer.at("operations").at(1);
  EXPECT_EQ(odd.at("differs"), true);
  ASSERT_EQ(odd.at("called").as_array().size(), 2U);
  EXPECT_THAT(ranks_in(odd.at("called").at(1)),
              ElementsAre(cause.at("subject").at("ranks").at(0).as_int64()));
  EXPECT_THAT(cause.at("title").as_string(), HasSubstr(std::string(odd.at("label").as_string())));
}

// Whatever is wrong with a job, and whatever its logs lack.
TEST_F(OperationsOfServer, AgreeWithRanksAndDiagnosis) {
  for (const auto& [scenario, flags] : {
           std::pair{"gpu_off_bus", "--nodes 2"},
           {"mismatch_two_camps", "--nodes 2"},
           {"oom_killed", "--nodes 2 --tp 4 --pp 2"},
           {"healthy_uneven_opcounts", "--nodes 2"},
           {"collective_mismatch_function", "--nodes 2 --lose 2 --steps 60"},
           {"rank_behind", "--nodes 2 --lose 5 --steps 100 --nccl 2.27"},
       }) {
    SCOPED_TRACE(scenario);
    simulate(scenario, flags);
    const std::string job(scenario);
    std::map<std::string, std::map<int, std::uint64_t>> lacking;
    for (const std::string& id : ids(job)) lacking[id] = lacks(job, id);
    ASSERT_THAT(lacking, Not(IsEmpty()));
    const json::object stand = plain_get(server, "/api/v1/jobs/" + job + "/ranks").json();
    for (const json::value& rank : stand.at("ranks").as_array())
      for (const json::value& standing : rank.at("standings").as_array()) {
        const std::string id(standing.at("communicator").as_string());
        if (id.empty() || rank.at("rank").is_null()) continue;
        EXPECT_EQ(lacking[id][static_cast<int>(rank.at("rank").as_int64())],
                  standing.at("behind").to_number<std::uint64_t>())
            << rank.at("rank") << " of " << id;
      }
    // Whom the diagnosis calls behind lacks a call somewhere.
    const json::object diagnosis = plain_get(server, "/api/v1/jobs/" + job + "/diagnosis").json();
    for (const json::value& rank : diagnosis.at("ranks").at("behind").as_array())
      EXPECT_TRUE(std::ranges::any_of(lacking, [&](const auto& one) {
        return one.second.contains(static_cast<int>(rank.as_int64()));
      })) << rank;
  }
}

TEST_F(OperationsOfServer, AreInTheDumpsOfFlightRecorders) {
  simulate("rank_behind", "--nodes 2 --evidence dumps");
  EXPECT_THAT(ids("rank_behind"), IsEmpty());
  const json::object diagnosis = plain_get(server, "/api/v1/jobs/rank_behind/diagnosis").json();
  const json::value& cause = diagnosis.at("root_causes").at(0);
  const json::object answer = in_title("rank_behind", "process_groups", "process group ");
  EXPECT_EQ(answer.at("basis"), "recorded");
  const json::value& missed = first_missed(answer);
  EXPECT_THAT(cause.at("title").as_string(),
              HasSubstr(std::string(missed.at("label").as_string()) + " of process group"));
  EXPECT_THAT(ranks_in(missed.at("not_reached")),
              ElementsAre(cause.at("subject").at("ranks").at(0).as_int64()));
  EXPECT_TRUE(missed.at("first").is_string());
}

TEST_F(OperationsOfServer, ComeInPagesThatTellEachPositionOnce) {
  simulate("rank_behind");
  const std::string id = world("rank_behind");
  const json::object whole = operations("rank_behind", id, "?from=3&to=40");
  ASSERT_TRUE(whole.at("next_cursor").is_null());
  json::array paged;
  std::string cursor;
  for (int page = 0; page < 20; ++page) {
    const json::object answer = operations("rank_behind", id, "?from=3&to=40&limit=7" + cursor);
    for (const json::value& position : answer.at("operations").as_array())
      paged.push_back(position);
    if (answer.at("next_cursor").is_null()) break;
    cursor = "&cursor=" + std::string(answer.at("next_cursor").as_string());
  }
  EXPECT_EQ(paged, whole.at("operations").as_array());
  EXPECT_THAT(paged, Not(IsEmpty()));
}

TEST_F(OperationsOfServer, RefuseWhatCannotBeMeant) {
  simulate("rank_behind");
  const std::string path = path_of("rank_behind", world("rank_behind"));
  for (const auto& [query, complaint] : {
           std::pair<std::string, std::string>{"from=9&to=3", "from must not be larger than to"},
           {"from=-1", "from must be"},
           {"to=x", "to must be"},
           {"limit=0", "limit must be"},
           {"limit=1001", "limit must be"},
           {"cursor=!", "cursor"},
           {"rank=3", "unknown query parameter \\\"rank\\\"; those taken here are from, to"},
           {"attempt=0", "attempt must be"},
       }) {
    SCOPED_TRACE(query);
    const Reply reply = plain_get(server, path + "?" + query);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr(complaint));
  }
  const std::string next(
      plain_get(server, path + "?from=1&limit=1").json().at("next_cursor").as_string());
  EXPECT_EQ(plain_get(server, path + "?from=5&cursor=" + next).status, 400);
  const Reply unknown = plain_get(server, path_of("rank_behind", "no such one"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("GET /api/v1/jobs/{job} lists"));
  EXPECT_EQ(plain_get(server, path_of("none", "any")).status, 404);
  EXPECT_EQ(plain_get(server, path + "?attempt=2").status, 404);
  EXPECT_EQ(plain_get(server, path + "?attempt=1").status, 200);
  EXPECT_THAT(plain_get(server, path + "?from=100000000").json().at("operations").as_array(),
              IsEmpty());
}

TEST_F(OperationsOfServer, OfManyRanksAreSmall) {
  simulate("rank_behind", "--nodes 128 --steps 4");
  const std::string id = world("rank_behind");
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply = plain_get(server, path_of("rank_behind", id) + "?from=1&limit=1000");
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json::object answer = reply.json();
  EXPECT_EQ(answer.at("nranks"), 1024);
  const std::size_t positions = answer.at("operations").as_array().size();
  ASSERT_GT(positions, 0U);
  EXPECT_LT(reply.body.size(), 2000 + positions * 600) << positions;
  EXPECT_LT(took, std::chrono::seconds(10)) << "far longer than it takes";
}

}  // namespace
}  // namespace faultline
