// Jobs that the service does not judge, because that would end it or take too much memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "served_jobs.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Optional;

using SetAside = ServedJobs;

TEST_F(SetAside, IsAJobWithMoreProcessesThanOneMayHave) {
  const std::string why = "the job has more than 3 processes, the limit for one job";
  settings.limits = {.processes = 3};
  restart();
  ASSERT_EQ(send("large", 3), "");
  EXPECT_FALSE(server->jobs.set_aside("large"));
  EXPECT_EQ(send("large", 1), why);
  ASSERT_EQ(send("small", 1), "");
  for (int life = 0; life < 2; ++life) {
    EXPECT_THAT(server->jobs.set_aside("large"), Optional(HasSubstr(why)));
    EXPECT_EQ(server->jobs.diagnosis("large")->verdict, Verdict::unknown);
    EXPECT_THAT(server->jobs.diagnosis("large")->summary, HasSubstr(why));
    EXPECT_EQ(server->jobs.count_set_aside(), 1);
    EXPECT_NE(server->jobs.diagnosis("small")->verdict, Verdict::unknown);
    restart();
  }
}

TEST_F(SetAside, IsNoJobWithMoreEventsThanOneMayHave) {
  settings.limits = {.events = 3};
  restart();
  ASSERT_EQ(send("large", 3), "");
  EXPECT_EQ(send("large", 3), "");
  for (int life = 0; life < 2; ++life) {
    EXPECT_FALSE(server->jobs.set_aside("large"));
    const std::shared_ptr<const Diagnosis> diagnosis = server->jobs.diagnosis("large");
    EXPECT_NE(diagnosis->verdict, Verdict::healthy);
    EXPECT_TRUE(std::ranges::any_of(diagnosis->missing_evidence, [](const MissingEvidence& it) {
      return it.what.ends_with("lines of kinds that came in millions");
    }));
    restart();
  }
}

class DeadlyJob : public ServedJobs {
 protected:
  DeadlyJob() {
    restart();
    EXPECT_EQ(send("deadly", 2), "");
    EXPECT_EQ(send("good", 2), "");
    server.reset();
  }

  // As a server leaves it that dies while it reads the job.
  void begin_after(const std::string& marks) {
    server.reset();
    workshop.write("reading", marks);
    restart();
  }
  bool is_set_aside(const std::string& job) { return server->jobs.set_aside(job).has_value(); }
};

TEST_F(DeadlyJob, IsSetAsideAfterTheSecondDeath) {
  begin_after("reading deadly\n");
  EXPECT_FALSE(is_set_aside("deadly"));
  begin_after("reading deadly\nsuspected deadly\n");
  EXPECT_THAT(server->jobs.diagnosis("deadly")->summary,
              testing::AllOf(HasSubstr("the server died twice while it read or judged this job"),
                             HasSubstr("curl -X POST .../api/v1/jobs/deadly/reanalyze")));
  EXPECT_FALSE(is_set_aside("good"));
  restart();
  EXPECT_TRUE(is_set_aside("deadly")) << "an end without a death changes nothing";
}

TEST_F(DeadlyJob, IsAcquittedOnceItIsJudged) {
  begin_after("reading deadly\n");
  EXPECT_FALSE(std::filesystem::exists(workshop.folder() / "reading"));
}

TEST_F(DeadlyJob, IsReadOnceMoreWhenAnOperatorAsksForIt) {
  begin_after("set-aside deadly\n");
  EXPECT_TRUE(is_set_aside("deadly"));
  EXPECT_TRUE(server->jobs.reanalyze("deadly").told);
  EXPECT_FALSE(is_set_aside("deadly"));
  EXPECT_NE(server->jobs.diagnosis("deadly")->verdict, Verdict::unknown);
  restart();
  EXPECT_FALSE(is_set_aside("deadly"));
}

TEST_F(DeadlyJob, IsNewAfterItWasDeleted) {
  begin_after("set-aside deadly\n");
  EXPECT_TRUE(server->jobs.forget("deadly"));
  restart();
  EXPECT_FALSE(server->jobs.diagnosis("deadly"));
  EXPECT_FALSE(std::filesystem::exists(workshop.folder() / "reading"));
}

}  // namespace
}  // namespace faultline
