#include "model/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>

namespace faultline {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

constexpr Timestamp kTime = sys_days(year{2026} / 3 / 5) + std::chrono::hours(2) +
                            std::chrono::minutes(46) + std::chrono::microseconds(59'123'000);

Finding full_finding() {
  return {.id = "f3a9c0",
          .cause = Cause::gpu_off_bus,
          .title = "GPU 0000:3b:00.0 on gpu-node-3 fell off the bus: Xid 79",
          .severity = Severity::critical,
          .confidence = 0.98,
          .subject = {.hosts = {"gpu-node-3"}, .ranks = {27}, .gpus = {"gpu-node-3/0000:3b:00.0"}},
          .first_seen = kTime,
          .last_seen = kTime,
          .zone_assumed = true,
          .count = 3,
          .explains = {"f71b", "f02d"},
          .evidence = {{.source = "gpu-node-3/dmesg.txt",
                        .line = 812,
                        .offset = 70211,
                        .time = kTime,
                        .text = "NVRM: \"Xid\""},
                       {.source = "x", .line = 1}},
          .against = {"rank 27 went on"},
          .remedy = "exclude_node",
          .actions = {{.what = "Drain the node.", .where = "gpu-node-3", .command = "nvidia-smi"}},
          .state = FindingState::resolved,
          .part_of_job = false};
}

TEST(FindingJson, HasThePromisedForm) {
  EXPECT_EQ(
      compact(to_json(full_finding())),
      R"({"class":"gpu.off_bus","title":"GPU 0000:3b:00.0 on gpu-node-3 fell off the bus: Xid 79",)"
      R"("severity":"critical","confidence":0.98,)"
      R"("subject":{"hosts":["gpu-node-3"],"ranks":[27],"gpus":["gpu-node-3/0000:3b:00.0"],)"
      R"("nics":[],"communicators":[]},)"
      R"("first_seen":"2026-03-05T02:46:59.123Z","last_seen":"2026-03-05T02:46:59.123Z",)"
      R"("zone_assumed":true,"count":3,)"
      R"("finding":"f3a9c0","explains":["f71b","f02d"],)"
      R"("evidence":[{"source":"gpu-node-3/dmesg.txt","line":812,"offset":70211,)"
      R"("time":"2026-03-05T02:46:59.123Z","text":"NVRM: \"Xid\""},)"
      R"({"source":"x","line":1,"offset":0,"time":null,"text":""}],)"
      R"("against":["rank 27 went on"],"remedy":"exclude_node",)"
      R"("actions":[{"do":"Drain the node.","where":"gpu-node-3","command":"nvidia-smi"}],)"
      R"("state":"resolved","part_of_job":false})");
}

TEST(FindingJson, ReadsBackWhatItWrote) {
  for (const Finding& finding : {full_finding(), Finding{}, Finding{.confidence = 1}}) {
    const auto read = finding_from_json(compact(to_json(finding)));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, finding);
  }
}

TEST(FindingJson, ReadsWhatAnOlderFaultlineStored) {
  std::string text = compact(to_json(full_finding()));
  const std::string_view later = R"("against":["rank 27 went on"],"remedy":"exclude_node",)";
  text.erase(text.find(later), later.size());
  const std::string_view zone = R"("zone_assumed":true,)";
  text.erase(text.find(zone), zone.size());
  const auto read = finding_from_json(text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->against.empty());
  EXPECT_FALSE(read->zone_assumed);
  EXPECT_EQ(read->remedy, "");
}

TEST(FindingJson, RefusesWhatItDidNotWrite) {
  const std::string good = compact(to_json(full_finding()));
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
  };
  struct Case {
    const char* why;
    std::string text;
    const char* message;
  };
  const Case cases[] = {
      {"cut off", good.substr(0, 100), "finding: incomplete JSON"},
      {"a list", "[]", "finding: an object is missing or of the wrong kind"},
      {"a field is missing", changed("\"title\"", "\"name\""),
       "finding: title is missing or of the wrong kind"},
      {"a severity nobody knows", changed("critical", "dreadful"),
       "finding: severity is missing or of the wrong kind"},
      {"a rank that does not fit", changed("[27]", "[4294967296]"),
       "finding: ranks is missing or of the wrong kind"},
      {"a rank that is a word", changed("[27]", "[\"27\"]"),
       "finding: ranks is missing or of the wrong kind"},
      {"a negative count", changed("\"count\":3", "\"count\":-3"),
       "finding: count is missing or of the wrong kind"},
      {"a time that is none", changed("2026-03-05T02:46:59.123Z", "yesterday"),
       "finding: first_seen is missing or of the wrong kind"},
      {"evidence that is no object", changed("\"evidence\":[{", "\"evidence\":[1,{"),
       "finding: an object is missing or of the wrong kind"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const auto read = finding_from_json(c.text);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().message, c.message);
  }
}

TEST(DiagnosisJson, HasThePromisedFormWithEmptyListsAndNullTimes) {
  EXPECT_EQ(compact(to_json(Diagnosis{.job = "llama"})),
            R"({"job":"llama","attempt":1,"as_of":null,"verdict":"unknown","summary":"",)"
            R"("root_causes":[],"symptoms":[],"observations":[],"so_far":[],)"
            R"("judged_in_seconds":null,"chain":[],"checklist":[],)"
            R"("missing_evidence":[],"unread":[],"next_time":[],"coverage":[],"timeline":[],)"
            R"("clock_offsets":[],"exclude":{"hosts":[],"slurm":"","kubernetes":""},)"
            R"("ranks":{"expected":0,"seen":0,"behind":[],"silent":[]}})");
}

TEST(DiagnosisJson, HoldsAllItKnows) {
  Diagnosis diagnosis{.job = "llama", .as_of = kTime, .verdict = Verdict::hang};
  diagnosis.root_causes = {full_finding()};
  diagnosis.chain = {"f3a9c0"};
  diagnosis.checklist = {{.check = "all ranks joined", .status = CheckStatus::pass, .detail = "2"}};
  diagnosis.missing_evidence = {{.what = "kernel log", .why = "silent", .command = "dmesg"}};
  diagnosis.ranks = {.expected = 64, .seen = 64, .behind = {27}, .silent = {27}};
  const boost::json::value json = to_json(diagnosis);
  EXPECT_EQ(json.at("verdict").as_string(), "hang");
  EXPECT_EQ(json.at("root_causes").at(0), to_json(full_finding()));
  EXPECT_EQ(compact(json.at("checklist")),
            R"([{"check":"all ranks joined","status":"pass","detail":"2","command":""}])");
  EXPECT_EQ(compact(json.at("missing_evidence")),
            R"([{"what":"kernel log","why":"silent","command":"dmesg"}])");
  EXPECT_EQ(compact(json.at("ranks")), R"({"expected":64,"seen":64,"behind":[27],"silent":[27]})");
}

TEST(JobJson, IsTheOverviewWithItsParts) {
  JobDetail job;
  job.overview = {.job = "llama",
                  .verdict = Verdict::healthy,
                  .ranks_expected = 2,
                  .ranks_seen = 1,
                  .last_activity = kTime};
  job.hosts = {"n1"};
  job.gpus = {{.host = "n1", .gpu = "0000:3b:00.0", .rank = 3}, {.host = "n2"}};
  job.communicators = {{.id = "0x9f3c", .nranks = 2, .members_seen = 1, .furthest = 7}};
  job.process_groups = {{.id = "0", .nranks = 2, .members_seen = 1}};
  job.sources = {{.name = "n1/nccl.log", .host = "n1", .bytes = 10, .lines = 2, .recognized = 1}};
  job.versions = {{"driver", {"12080"}}};
  job.network = {"IB"};
  job.settings = {{.setting = "network used", .value = "IB", .hosts = 1}};
  EXPECT_EQ(
      compact(to_json(job)),
      R"({"job":"llama","verdict":"healthy","ranks":{"expected":2,"seen":1},"attempts":1,)"
      R"("last_activity":"2026-03-05T02:46:59.123Z","cause":"","confidence":null,"since":null,"hosts":["n1"],)"
      R"("gpus":[{"host":"n1","gpu":"0000:3b:00.0","uuid":"","rank":3},)"
      R"({"host":"n2","gpu":"","uuid":"","rank":null}],"nics":[],)"
      R"("communicators":[{"id":"0x9f3c","nranks":2,"members_seen":1,"furthest":7,)"
      R"("slowest":0,"matched":true}],)"
      R"("process_groups":[{"id":"0","nranks":2,"members_seen":1}],)"
      R"("sources":[{"name":"n1/nccl.log","host":"n1","bytes":10,"lines":2,)"
      R"("recognized":1}],)"
      R"("versions":{"driver":["12080"]},"network":["IB"],)"
      R"("settings":[{"setting":"network used","value":"IB","hosts":1,"only_on":[]}]})");
}

TEST(RankJson, SaysNullForWhatNobodyKnows) {
  RankView rank{.host = "n1", .state = "behind"};
  rank.standings = {{.communicator = "0x9f3c", .rank = 3, .position = 7, .behind = 1}};
  EXPECT_EQ(compact(to_json(rank)),
            R"({"rank":null,"host":"n1","pid":null,"gpu":"","state":"behind",)"
            R"("standings":[{"communicator":"0x9f3c","rank":3,"position":7,"behind":1,)"
            R"("point_to_point":0,"op_count":null,"last_call":"","last_line":null}]})");
}

TEST(JsonText, IsValidWhateverBytesALineHas) {
  struct Case {
    const char* why;
    std::string text;
    const char* expected;
  };
  const Case cases[] = {
      {"quotes and backslashes", R"(a"b\c)", R"("a\"b\\c")"},
      {"control characters", std::string("\n\r\t\x1b\0", 5), R"("\n\r\t\u001b\u0000")"},
      {"those that terminals obey besides",
       "\x7f\xc2\x9b"
       "2J",
       R"("\u007f\u009b2J")"},
      {"good UTF-8 stays", "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
       "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
      {"a stray byte", "a\xffz", "\"a\xef\xbf\xbdz\""},
      {"a character cut off", "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"overlong", "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"a surrogate", "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {"beyond Unicode", "\xf4\x90\x80\x80",
       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(compact(boost::json::value(c.text)), c.expected);
  }
}

TEST(JsonText, PrintsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(compact(boost::json::value(0.98)), "0.98");
  EXPECT_EQ(compact(boost::json::value(std::uint64_t{18446744073709551615u})),
            "18446744073709551615");
  EXPECT_EQ(compact(boost::json::value(-3)), "-3");
  EXPECT_EQ(compact(boost::json::value(std::numeric_limits<double>::infinity())), "null");
}

TEST(JsonText, IndentsForPeople) {
  const boost::json::value value = {{"list", {1, 2}},
                                    {"words", {"a", "b"}},
                                    {"empty", boost::json::array()},
                                    {"none", boost::json::object()}};
  EXPECT_EQ(pretty(value), R"({
  "list": [1, 2],
  "words": [
    "a",
    "b"
  ],
  "empty": [],
  "none": {}
}
)");
}

TEST(FactJson, GivesBackEveryKindOfFact) {
  const Fact facts[] = {
      CommunicatorInit{.communicator = 0xffff'ffff'ffff'fffe,
                       .rank = 3,
                       .nranks = 8,
                       .gpu = "0000:3b:00.0",
                       .communicator_id = "0x9f3c",
                       .parent = 0x8000'0000'0000'0000,
                       .child = -1,
                       .function = "ncclCommSplit",
                       .complete = true},
      CommunicatorInit{},
      CommunicatorEnd{.communicator = 1, .ending = CommunicatorEnding::revoke_started},
      GpuXid{.gpu = "0000:3b:00.0",
             .code = 79,
             .pid = std::numeric_limits<std::int64_t>::min(),
             .process = std::string("py\0thon\xff\xc3", 9),
             .detail = "GPU has \"fallen\" off\n\x1b[0m the bus.",
             .caused_by = 31,
             .xid_line = false,
             .repeated = 3},
      GpuIdentity{.uuid = "GPU-1", .serial = "2"},
      HostBooted{.kernel = "6.1.0"},
      PartReport{.tool = "perfquery",
                 .kind = "port",
                 .names = {{"lid", "37"}, {"port", "1"}},
                 .values = {{"SymbolErrorCounter", "65535"}, {"odd \xff", ""}}},
      FlightRecorderDump{.form = "pickle", .version = "2.10", .entries = 7, .broken_off = true},
      FlightRecorderGroup{.name = "0",
                          .members = "0-7",
                          .last_enqueued = 12,
                          .signatures = {{.operation = "nccl:send 0->1", .point_to_point = true}},
                          .signature = {0, 0},
                          .states = "Cs",
                          .sequence = {9, 1},
                          .details = {{.entry = 1, .stack = 0, .timeout_ms = 600000}},
                          .stacks = {"f (a.py:1)\ng (b.py:2)"}},
  };
  for (const Fact& fact : facts) {
    const std::string text = fact_to_json(fact);
    const auto read = fact_from_json(kind_of(fact), text);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, fact) << text;
  }
}

TEST(FactJson, IsAnObjectOfTheFieldsAsTheyAreDescribed) {
  EXPECT_EQ(fact_to_json(CommunicatorEnd{.rank = 2, .ending = CommunicatorEnding::aborted}),
            R"({"communicator":0,"rank":2,"nranks":0,"gpu":"","ending":"aborted"})");
}

TEST(FactJson, TakesTheDefaultForAFieldThatDidNotExistYet) {
  const auto read = fact_from_json("gpu_xid", R"({"gpu":"0000:3b:00.0","code":79})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, Fact(GpuXid{.gpu = "0000:3b:00.0", .code = 79}));
}

TEST(FactJson, RefusesWhatItDidNotWrite) {
  struct Case {
    const char* why;
    const char* kind;
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"a kind of a newer version", "gpu_melted", "{}", "gpu_melted: unknown fact"},
      {"no JSON", "gpu_xid", "{\"code\":", "gpu_xid: not a JSON object"},
      {"no object", "gpu_xid", "[79]", "gpu_xid: not a JSON object"},
      {"a word for a number", "gpu_xid", R"({"code":"79"})",
       "gpu_xid: \"code\" has a value of the wrong kind"},
      {"a number that does not fit", "gpu_xid", R"({"code":4294967296})",
       "gpu_xid: \"code\" has a value of the wrong kind"},
      {"a fraction", "gpu_xid", R"({"code":79.5})",
       "gpu_xid: \"code\" has a value of the wrong kind"},
      {"a negative pointer", "communicator_end", R"({"communicator":-1})",
       "communicator_end: \"communicator\" has a value of the wrong kind"},
      {"an ending nobody knows", "communicator_end", R"({"ending":"eaten"})",
       "communicator_end: \"ending\" has a value of the wrong kind"},
      {"a field nobody described", "host_booted", R"({"kernel":"6","uptime":1})",
       "host_booted: has unknown fields"},
      {"a value without its name", "part_report", R"({"values":["65535"]})",
       "part_report: \"values\" has a value of the wrong kind"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const auto read = fact_from_json(c.kind, c.text);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().message, c.message);
  }
}

}  // namespace
}  // namespace faultline
