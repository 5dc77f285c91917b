#include "store/incidents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

Finding finding(std::string id, std::vector<std::string> explains = {}) {
  return {.id = std::move(id), .explains = std::move(explains)};
}

TEST(Incidents, HoldACauseAndWhatItExplains) {
  const auto incidents = incidents_of({finding("fa", {"fb"}), finding("fc"), finding("fb")},
                                      {.causes = {"fa", "fc"}, .symptoms = {"fb"}}, {});
  EXPECT_EQ(incidents.at("fa"), incidents.at("fb"));
  EXPECT_NE(incidents.at("fa"), incidents.at("fc"));
}

TEST(Incidents, LeaveObservationsOut) {
  EXPECT_TRUE(incidents_of({finding("fa")}, {}, {}).empty());
}

TEST(Incidents, KeepTheirNameWhenTheCauseIsFoundAfterTheSymptom) {
  const auto incidents =
      incidents_of({finding("fa", {"fb"}), finding("fb")}, {.causes = {"fa"}, .symptoms = {"fb"}},
                   {{.finding = "fb", .incident = "ifb", .age = 1}});
  EXPECT_THAT(incidents, UnorderedElementsAre(Pair("fa", "ifb"), Pair("fb", "ifb")));
}

TEST(Incidents, KeepTheirNameWhenOneFindingTakesThePlaceOfAnother) {
  const auto incidents = incidents_of({finding("fnew")}, {.causes = {"fnew"}},
                                      {{.finding = "fold", .incident = "ifold", .age = 1}});
  EXPECT_THAT(incidents, ElementsAre(Pair("fnew", "ifold")));
}

TEST(Incidents, TakeTheOlderNameWhenTwoBecomeOne) {
  const auto incidents =
      incidents_of({finding("fa", {"fb"}), finding("fb")}, {.causes = {"fa"}, .symptoms = {"fb"}},
                   {{.finding = "fa", .incident = "ifa", .age = 7},
                    {.finding = "fb", .incident = "ifb", .age = 3}});
  EXPECT_THAT(incidents, UnorderedElementsAre(Pair("fa", "ifb"), Pair("fb", "ifb")));
}

}  // namespace
}  // namespace faultline
