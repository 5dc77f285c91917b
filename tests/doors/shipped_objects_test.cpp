#include "doors/shipped_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read_into.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Objects, AreTakenFromLinesListsAndOneBehindTheOther) {
  const std::string one = R"({"job":"llama","host":"gpu-3","message":"a {\"b\": [1]}"})";
  const std::string two = R"({"job":"llama","host":"gpu-3","message":"second"})";
  for (const std::string& body :
       {one + "\n" + two + "\n", one + two, "[" + one + "," + two + "]",
        "[\n  " + one + ",\r\n  " + two + "\n]\n", "[" + one + "][" + two + "]"}) {
    Given given;
    read_objects(body, given.lines);
    EXPECT_THAT(given.all(), ElementsAre("llama|gpu-3|-1|gpu-3/peer\n" + one + "\n" + two + "\n"))
        << body;
  }
}

TEST(Objects, PrintedOverSeveralLinesAreOneLine) {
  Given given;
  read_objects("{\n  \"job\": \"llama\",\n  \"message\": \"a\"\n}\n", given.lines);
  EXPECT_THAT(given.all(), ElementsAre("llama||-1|10.0.0.9/peer\n"
                                       "{   \"job\": \"llama\",   \"message\": \"a\" }\n"));
}

TEST(Objects, ThatBreakOffTakeNoOtherWithThem) {
  Given given;
  read_objects("{\"job\":\"llama\",\"message\":\"torn\n{\"message\":\"whole\"}\nplain text\n",
               given.lines);
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/peer\n"
                                       "{\"job\":\"llama\",\"message\":\"torn\n"
                                       "{\"message\":\"whole\"}\nplain text\n"));
}

// Each of them could be the beginning of an object that ends with the body.
TEST(Objects, ThatOnlyBeginCostNoMoreThanTheirBytes) {
  std::string body;
  for (int line = 0; line < 2'000'000; ++line) body += "{\n";
  Given given;
  read_objects(body, given.lines);
  EXPECT_EQ(given.lines.messages(), 2'000'000);
}

TEST(Objects, AreOfTheJobThatTheirLabelsName) {
  struct Labelled {
    std::string object;
    std::string place;
  };
  const std::vector<Labelled> all{
      {R"({"kubernetes":{"pod_name":"w-1","namespace_name":"ml","container_name":"t","host":"n-7",)"
       R"("labels":{"training.kubeflow.org/job-name":"llama"}},"log":"x"})",
       "llama.ml|n-7|-1|n-7/ml/w-1/t"},
      {R"({"kubernetes":{"pod_name":"w-1","pod_namespace":"ml","container_name":"t",)"
       R"("pod_node_name":"n-7","pod_labels":{"jobset.sigs.k8s.io/jobset-name":"llama"}},)"
       R"("host":"vector-0","file":"","message":"x"})",
       "llama.ml|n-7|-1|n-7/ml/w-1/t"},
      {R"({"kubernetes":{"pod":{"name":"w-1"},"namespace":"ml","container":{"name":"t"},)"
       R"("node":{"name":"n-7"},"labels":{"ray_io/cluster":"llama"}},"host":{"name":"beat"},)"
       R"("message":"x"})",
       "llama.ml|n-7|-1|n-7/ml/w-1/t"},
      {R"({"SLURM_JOB_ID":812,"SLURM_PROCID":"5","hostname":"n-7","path":"/logs/r5.log","message":"x"})",
       "812|n-7|5|n-7/logs/r5.log/rank5"},
      {R"({"_HOSTNAME":"n-7","_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"x"})",
       "unlabelled|n-7|-1|n-7/kernel"},
      {R"({"_HOSTNAME":"n-7","_SYSTEMD_UNIT":"slurmd.service","MESSAGE":"x","job":"batch"})",
       "batch|n-7|-1|n-7/slurmd.service"},
      {R"({"container_name":"/train-0","source":"stdout","job":"llama","host":"n-7","log":"x"})",
       "llama|n-7|-1|n-7/train-0"},
      {R"({"log.file.name":"rank0.log","job":"llama","host.name":"n-7","body":"x"})",
       "llama|n-7|-1|n-7/rank0.log"},
      {R"({"faultline_job":"llama","job":"varlogs","rank":"-4","message":"x"})",
       "llama||-1|10.0.0.9/peer"}};
  for (const Labelled& labelled : all) {
    Given given;
    read_objects(labelled.object, given.lines);
    EXPECT_THAT(given.all(), ElementsAre(labelled.place + "\n" + labelled.object + "\n"));
  }
}

TEST(Objects, OfMoreSourcesOrJobsThanOneShipperHasAreCounted) {
  std::string hosts;
  for (std::size_t host = 0; host < SourceLines::kMostSources + 7; ++host)
    hosts += R"({"job":"j","host":"h)" + std::to_string(host) + "\",\"message\":\"x\"}\n";
  Given many;
  read_objects(hosts, many.lines);
  EXPECT_EQ(many.lines.messages(), SourceLines::kMostSources);
  EXPECT_EQ(many.lines.too_many(), 7);
  EXPECT_EQ(many.lines.source_of_message().back(), SourceLines::kNoSource);

  std::string jobs;
  for (std::size_t job = 0; job < SourceLines::kMostJobs + 7; ++job)
    jobs += R"({"job":"j)" + std::to_string(job) + "\",\"message\":\"x\"}\n";
  Given given;
  read_objects(jobs, given.lines);
  EXPECT_EQ(given.lines.too_many(), 7);
}

TEST(Objects, WithBytesThatAreNoUtf8KeepTheirLabels) {
  Given given;
  read_objects("{\"job\":\"llama\",\"message\":\"bad \xff\"}\n", given.lines);
  EXPECT_THAT(given.all(), ElementsAre("llama||-1|10.0.0.9/peer\n{\"job\":\"llama\",\"message\":"
                                       "\"bad \xef\xbf\xbd\"}\n"));
}

TEST(Destination, OfTheRequestCountsMoreThanThatOfALabel) {
  Given given;
  given.defaults = {.job = "mine",
                    .host = "here",
                    .rank = 2,
                    .sender = "10.0.0.9",
                    .source = "peer",
                    .job_given = true,
                    .host_given = true};
  read_objects(R"({"job":"llama","host":"gpu-3","message":"x"})", given.lines);
  ASSERT_EQ(given.all().size(), 1);
  EXPECT_TRUE(given.all()[0].starts_with("mine|here|2|here/peer/rank2\n"));
}

TEST(Bulk, TakesDocumentsAndAnswersEachAction) {
  Given given;
  const auto items = read_bulk(R"({"create":{"_index":"logs","_id":"7"}}
{"job":"llama","message":"a"}
{"index":{}}
{"job":"llama","message":"b"}
{"delete":{"_index":"logs","_id":"8"}}
{"update":{"_id":"9"}}
{"doc":{"message":"c"}}
{"index":{}}
no object
)",
                               "usual", given.lines);
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 5);
  EXPECT_EQ((*items)[0].action, "create");
  EXPECT_EQ((*items)[0].index, "logs");
  EXPECT_EQ((*items)[0].id, "7");
  EXPECT_EQ((*items)[0].refused, "");
  EXPECT_EQ((*items)[1].index, "usual");
  EXPECT_NE((*items)[2].refused, "");
  EXPECT_NE((*items)[3].refused, "");
  EXPECT_EQ((*items)[4].refused, "the document is no JSON object");
  EXPECT_THAT(given.all(),
              ElementsAre("llama||-1|10.0.0.9/peer\n{\"job\":\"llama\",\"message\":\"a\"}\n"
                          "{\"job\":\"llama\",\"message\":\"b\"}\n"));
}

TEST(Bulk, BoundsWhatItAnswers) {
  Given given;
  EXPECT_FALSE(read_bulk("{\"index\":{}}\n{}\n", std::string(300, 'i'), given.lines));
  std::string many;
  for (int item = 0; item < 100'001; ++item) many += "{\"delete\":{}}\n";
  EXPECT_FALSE(read_bulk(many, "logs", given.lines));
}

TEST(Bulk, RefusesLinesThatAreNoActions) {
  for (const std::string_view body :
       {"{\"message\":\"a\"}\n", "x\n", "{\"create\":5}\n", "{\"index\":{},\"create\":{}}\n{}\n"}) {
    Given given;
    EXPECT_FALSE(read_bulk(body, "", given.lines)) << body;
  }
}

TEST(Events, AreTakenWithoutAnythingBetween) {
  Given given;
  const EventsRead read = read_events(
      R"({"time":1772679449.5,"host":"gpu-3","source":"/logs/a.log","fields":{"job":"llama"},"event":"x"})"
      R"({"event":{"message":"y"},"host":"gpu-3"})",
      given.lines);
  EXPECT_FALSE(read.error);
  EXPECT_EQ(read.events, 2);
  ASSERT_EQ(given.all().size(), 2);
  EXPECT_TRUE(given.all()[0].starts_with("llama|gpu-3|-1|gpu-3/logs/a.log\n"));
  EXPECT_TRUE(given.all()[1].starts_with("unlabelled|gpu-3|-1|gpu-3/peer\n"));
}

TEST(Events, AreRefusedAsSplunkDoes) {
  const auto code_of = [](std::string_view body) {
    Given given;
    const EventsRead read = read_events(body, given.lines);
    return read.error ? read.error->code : 0;
  };
  EXPECT_EQ(code_of(""), 5);
  EXPECT_EQ(code_of("{"), 6);
  EXPECT_EQ(code_of("text"), 6);
  EXPECT_EQ(code_of(R"({"host":"a"})"), 12);
  EXPECT_EQ(code_of(R"({"event":null})"), 12);
  EXPECT_EQ(code_of(R"({"event":""})"), 13);
  EXPECT_EQ(code_of(R"({"event":"x"})"), 0);
}

TEST(Events, ThatAreWrongDoNotTakeTheOthersWithThem) {
  Given given;
  const EventsRead read =
      read_events(R"({"event":"good"}{"event":""}{"host":"h"}{"event":"good, too"})", given.lines);
  EXPECT_FALSE(read.error);
  EXPECT_EQ(read.events, 4);
  EXPECT_EQ(given.lines.messages(), 2);
  EXPECT_EQ(given.lines.unreadable_records(), 2);
}

TEST(Objects, OfAnEmptyBodyAreNone) {
  Given given;
  read_objects(" \n[]\n", given.lines);
  EXPECT_THAT(given.all(), IsEmpty());
}

}  // namespace
}  // namespace faultline
