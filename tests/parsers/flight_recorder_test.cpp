#include "parsers/torch/flight_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixture.h"
#include "model/json.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Outcome = DumpReading::Outcome;

struct Dump {
  FlightRecorderDump head;
  std::vector<FlightRecorderGroup> groups;

  const FlightRecorderGroup* named(const std::string& name) const {
    for (const FlightRecorderGroup& group : groups)
      if (group.name == name) return &group;
    return nullptr;
  }
  const FlightRecorderGroup* with_id(std::int64_t id) const {
    for (const FlightRecorderGroup& group : groups)
      if (group.local_id == id) return &group;
    return nullptr;
  }
};

Dump dump_of(const std::vector<DumpedFact>& facts) {
  Dump dump;
  for (const DumpedFact& told : facts) {
    if (const auto* head = std::get_if<FlightRecorderDump>(&told.fact)) dump.head = *head;
    if (const auto* group = std::get_if<FlightRecorderGroup>(&told.fact))
      dump.groups.push_back(*group);
  }
  return dump;
}

Dump dump_in(const std::string& name) {
  const std::string bytes = fixture("flight_recorder/" + name);
  const DumpForm form = dump_form(std::string_view(bytes).substr(0, kDumpFormBytes), true);
  EXPECT_EQ(form, name.ends_with(".json") ? DumpForm::json : DumpForm::pickle);
  const DumpReading reading =
      form == DumpForm::json ? read_dump_json(bytes, false) : read_dump_pickle(bytes, true);
  EXPECT_EQ(reading.outcome, Outcome::read);
  EXPECT_EQ(reading.consumed, bytes.size());
  return dump_of(reading.facts);
}

constexpr std::int64_t kStart = 1741142831123456;

void expect_the_newest_version(const Dump& dump, bool with_frames) {
  EXPECT_EQ(dump.head.version, "2.10");
  EXPECT_EQ(dump.head.library_version, "2.27.5");
  EXPECT_EQ(dump.head.entries, 6U);
  EXPECT_EQ(dump.head.unreadable_entries, 0U);
  EXPECT_TRUE(dump.head.has_entries);
  EXPECT_EQ(dump.head.has_stacks, with_frames);
  EXPECT_FALSE(dump.head.broken_off);
  EXPECT_EQ(dump.head.refused, "");
  ASSERT_EQ(dump.groups.size(), 3U);

  const FlightRecorderGroup* world = dump.named("0");
  ASSERT_NE(world, nullptr);
  EXPECT_EQ(world->description, "default_pg");
  EXPECT_EQ(world->members, "0-7");
  EXPECT_EQ(world->local_id, 0);
  EXPECT_EQ(world->last_enqueued, 304);
  EXPECT_EQ(world->last_started, 303);
  EXPECT_EQ(world->last_completed, 302);
  EXPECT_EQ(world->states, "CCCrs");
  EXPECT_THAT(world->sequence, ElementsAre(300, 1, 1, 1, 1));
  EXPECT_THAT(world->record, ElementsAre(70000, 1, 1, 2, 1));
  EXPECT_THAT(world->created_us, ElementsAre(kStart, 2'000'000, 2'000'000, 4'000'000, 2'000'000));
  EXPECT_THAT(world->duration_us, ElementsAre(1500, 1500, 1500, -1, -1));
  ASSERT_EQ(world->signatures.size(), 1U);
  EXPECT_EQ(world->signatures[0].operation, "nccl:all_reduce");
  EXPECT_EQ(world->signatures[0].input_sizes, "[[8192,64],[]]");
  EXPECT_EQ(world->signatures[0].input_dtypes, "Float,Long");
  EXPECT_FALSE(world->signatures[0].point_to_point);
  // Details: the last entry that completed, and all that did not.
  ASSERT_EQ(world->details.size(), 3U);
  EXPECT_EQ(world->details[0].entry, 2U);
  EXPECT_EQ(world->details[0].completed_us, kStart + 4'000'009);
  EXPECT_EQ(world->details[1].entry, 3U);
  EXPECT_EQ(world->details[1].thread, "pt_autograd_6");
  EXPECT_EQ(world->details[1].timeout_ms, 600'000);
  EXPECT_EQ(world->details[1].operation_id, 304);
  EXPECT_EQ(world->details[1].started_us, kStart + 8'000'001);
  EXPECT_EQ(world->details[1].completed_us, std::nullopt);
  EXPECT_EQ(world->details[2].started_us, std::nullopt);
  if (with_frames) {
    ASSERT_EQ(world->details[1].stack, 1);
    EXPECT_EQ(world->stacks[1],
              "all_reduce (/opt/torch/distributed_c10d.py:2800)\ntrain_step (/job/train.py:135)");
  }

  const FlightRecorderGroup* pipeline = dump.named("12");
  ASSERT_NE(pipeline, nullptr);
  EXPECT_EQ(pipeline->members, "1 5");
  EXPECT_EQ(pipeline->local_id, 2);
  EXPECT_EQ(pipeline->last_enqueued, 41);
  EXPECT_EQ(pipeline->states, "s");
  EXPECT_THAT(pipeline->sequence, ElementsAre(3));
  EXPECT_THAT(pipeline->p2p_sequence, ElementsAre(41));
  EXPECT_EQ(pipeline->signatures[0].operation, "nccl:send 1->0");
  EXPECT_TRUE(pipeline->signatures[0].point_to_point);

  // A group without entries has only its number.
  const FlightRecorderGroup* nameless = dump.with_id(1);
  ASSERT_NE(nameless, nullptr);
  EXPECT_EQ(nameless->name, "");
  EXPECT_EQ(nameless->last_completed, 9);
}

TEST(FlightRecorder, TheNewestVersionIsReadFromEveryProtocol) {
  for (const char* name : {"torch_v2.10.pickle", "v2.10_p2.pickle", "v2.10_p3.pickle",
                           "v2.10_p4.pickle", "v2.10_p5.pickle"}) {
    SCOPED_TRACE(name);
    expect_the_newest_version(dump_in(name), true);
  }
}

TEST(FlightRecorder, JsonSaysTheSame) {
  expect_the_newest_version(dump_in("saved_v2.10.json"), true);
  expect_the_newest_version(dump_in("torch_v2.10.json"), false);
}

TEST(FlightRecorder, EveryVersionIsReadAsFarAsItGoes) {
  for (const std::string version :
       {"1.0", "1.1", "1.4", "2.0", "2.2", "2.3", "2.4", "2.5", "2.7", "2.9", "2.10"}) {
    for (int protocol = 2; protocol <= 5; ++protocol) {
      SCOPED_TRACE(version + " " + std::to_string(protocol));
      const Dump dump = dump_in(fmt::format("v{}_p{}.pickle", version, protocol));
      EXPECT_EQ(dump.head.version, version);
      EXPECT_EQ(dump.head.entries, 6U);
      EXPECT_EQ(dump.head.unreadable_entries, 0U);
      const FlightRecorderGroup* world = dump.with_id(0);
      ASSERT_NE(world, nullptr);
      EXPECT_THAT(world->sequence, ElementsAre(300, 1, 1, 1, 1));
      EXPECT_EQ(world->states.size(), 5U);
      const bool has_status = version != "1.0" && version != "1.1" && version != "1.4" &&
                              version != "2.0" && version != "2.2";
      EXPECT_EQ(world->last_enqueued.has_value(), has_status);
      const FlightRecorderGroup* pipeline = dump.with_id(2);
      ASSERT_NE(pipeline, nullptr);
      EXPECT_EQ(pipeline->signatures[0].operation, "nccl:send 1->0");
    }
  }
}

TEST(FlightRecorder, TheFirstNightlyBuildsWroteABareList) {
  for (int protocol = 2; protocol <= 5; ++protocol) {
    const Dump dump = dump_in(fmt::format("vlist_p{}.pickle", protocol));
    EXPECT_EQ(dump.head.version, "");
    EXPECT_EQ(dump.head.entries, 6U);
    ASSERT_EQ(dump.groups.size(), 2U);
    EXPECT_EQ(dump.groups[0].states, "cccrs");
  }
}

TEST(FlightRecorder, EntriesMayLackNearlyEverything) {
  const Dump dump = dump_in("example.pickle");
  EXPECT_EQ(dump.head.entries, 2U);
  EXPECT_EQ(dump.head.unreadable_entries, 2U);  // they have no number in the group's sequence
  ASSERT_EQ(dump.groups.size(), 1U);
  EXPECT_EQ(dump.groups[0].last_completed, 300);
}

// TorchComms counts the calls of all groups of a process together.
TEST(FlightRecorder, WhereOneCountIsOfAllGroupsEachGroupIsCountedByItself) {
  const auto entry = [](int record, int group) {
    return R"({"record_id":)" + std::to_string(record) + R"(,"pg_id":)" + std::to_string(group) +
           R"(,"process_group":[")" + std::to_string(group) + R"(","g"],"collective_seq_id":)" +
           std::to_string(record + 1) +
           R"(,"profiling_name":"ncclx:all_reduce","state":"completed"})";
  };
  const std::string head = R"({"version":"2.10","comm_lib_version":"2.31.2","entries":[)";
  const auto dump_from = [&](int first) {
    return read_dump_json(head + entry(first, 0) + "," + entry(first + 1, 1) + "," +
                              entry(first + 2, 0) + "," + entry(first + 3, 1) + "]}",
                          false)
        .facts;
  };
  const Dump whole = dump_of(dump_from(0));
  ASSERT_EQ(whole.groups.size(), 2U);
  for (const auto& group : whole.groups)
    EXPECT_EQ(group.sequence, (std::vector<std::int64_t>{1, 1}));
  // Entries were lost before these, so the place in each group is unknown, and the head says so.
  const Dump late = dump_of(dump_from(7));
  EXPECT_EQ(late.head.unreadable_entries, 4U);
  EXPECT_TRUE(late.groups.empty());
}

TEST(FlightRecorder, CutAnywhereTheWholeEntriesAreRead) {
  for (const std::string name : {"torch_v2.10.pickle", "v2.10_p2.pickle", "v2.10_p4.pickle"}) {
    const std::string whole = fixture("flight_recorder/" + name);
    std::uint64_t before = 0;
    for (std::size_t size = 2; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);
      EXPECT_EQ(read_dump_pickle(cut, false).outcome, Outcome::incomplete);
      const DumpReading reading = read_dump_pickle(cut, true);
      ASSERT_EQ(reading.outcome, Outcome::read);
      const Dump dump = dump_of(reading.facts);
      EXPECT_TRUE(dump.head.broken_off);
      EXPECT_GE(dump.head.entries, before);
      EXPECT_EQ(dump.head.unreadable_entries, 0U);
      before = dump.head.entries;
    }
    EXPECT_EQ(before, 6U) << name;
  }
}

TEST(FlightRecorder, WhyAPickleWasRefusedIsAFact) {
  const Dump code = dump_of(read_dump_pickle("\x80\x02"
                                             "cos\nsystem\n",
                                             true)
                                .facts);
  EXPECT_THAT(code.head.refused, HasSubstr("GLOBAL"));
  const Dump other = dump_of(read_dump_pickle("\x80\x02]K\x01"
                                              "a.",
                                              true)
                                 .facts);
  EXPECT_THAT(other.head.refused, HasSubstr("no Flight Recorder dump"));
}

TEST(FlightRecorder, OperationsThatTakeTooMuchMemoryAreRefused) {
  const auto text = [](const std::string& value) {  // of at most 255 bytes
    return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
  };
  const auto dump_with = [&](int entries) {
    // All entries share one list of types, so the file is small.
    std::string bytes = "\x80\x02}("s + text("types") + "]q\0("s;
    for (int i = 0; i < 5; ++i) bytes += text(std::string(200, 'a'));
    bytes += "e"s + text("entries") + "]("s;
    for (int i = 0; i < entries; ++i)
      bytes += "}("s + text("profiling_name") + text(fmt::format("nccl:{}", i)) + text("pg_id") +
               "K\x01"s + text("collective_seq_id") + "K\x01"s + text("input_dtypes") + "h\0"s +
               text("output_dtypes") + "h\0"s + "u"s;
    return dump_of(read_dump_pickle(bytes + "eu.", true).facts);
  };
  const Dump few = dump_with(1000);
  EXPECT_EQ(few.head.refused, "");
  ASSERT_EQ(few.groups.size(), 1U);
  EXPECT_EQ(few.groups[0].signatures.size(), 1000U);
  const Dump many = dump_with(10'000);
  EXPECT_THAT(many.head.refused, HasSubstr("more than 16 MB"));
  EXPECT_TRUE(many.groups.empty());
}

// A pickle of two groups and more whose lists of ranks are one: each group would have a copy.
std::string groups_with_one_list(int groups) {
  const auto text = [](const std::string& word) {
    const auto size = static_cast<std::uint32_t>(word.size());
    std::string made = "X";
    for (int shift = 0; shift < 32; shift += 8) made += static_cast<char>(size >> shift & 0xff);
    return made + word;
  };
  std::string list = "[";
  for (int rank = 0; rank < 100'000; ++rank) list += fmt::format("{}, ", 2 * rank);
  std::string pickle = "\x80\x02}("s + text("version") + text("2.4") + text("pg_config") + "}(";
  for (int group = 0; group < groups; ++group)
    pickle += text(std::to_string(group)) + "}" + text("ranks") +
              (group == 0 ? text(list + "1]") + "q\0"s : "h\0"s) + "s";
  return pickle + "u" + text("entries") + "]u.";
}

TEST(FlightRecorder, GroupsThatShareAVeryLongListOfRanksAreRefused) {
  const Dump few = dump_of(read_dump_pickle(groups_with_one_list(4), true).facts);
  EXPECT_EQ(few.head.refused, "");
  const Dump many = dump_of(read_dump_pickle(groups_with_one_list(400), true).facts);
  EXPECT_THAT(many.head.refused, HasSubstr("more than 16 MB"));
}

TEST(FlightRecorder, ARecorderThatIsOffIsToldFromARankThatDidNothing) {
  const std::string bytes =
      "\x80\x02}(X\x07\x00\x00\x00versionX\x03\x00\x00\x00"
      "2.9X\x07\x00\x00\x00"
      "entries](eu."s;
  const Dump dump = dump_of(read_dump_pickle(bytes, true).facts);
  EXPECT_EQ(dump.head.refused, "");
  EXPECT_EQ(dump.head.entries, 0U);
  EXPECT_TRUE(dump.groups.empty());
}

TEST(FlightRecorder, ADumpIsKnownByItsBeginning) {
  EXPECT_EQ(dump_form("\x80\x02}", false), DumpForm::pickle);
  EXPECT_EQ(dump_form("\x80", false), DumpForm::unsure);
  EXPECT_EQ(dump_form("(dp0\nVversion\np1\n", false), DumpForm::pickle);
  EXPECT_EQ(dump_form("", false), DumpForm::unsure);
  EXPECT_EQ(dump_form(R"({"comm_lib_version":"2.27.5","entries":[)", false), DumpForm::json);
  EXPECT_EQ(dump_form("{\n  \"version\": \"2.5\",\n", false), DumpForm::unsure);
  EXPECT_EQ(dump_form("{\n  \"version\": \"2.5\",\n  \"pg_config\": {", false), DumpForm::json);
  EXPECT_EQ(dump_form("{\n  \"version\": \"2.5\",\n", true), DumpForm::none);
  for (const char* next : {"", "\"pg_config\": {"})
    EXPECT_EQ(dump_form(fmt::format("{{\"version\": \"2.5\"}}\n{}", next), false), DumpForm::none)
        << "a record of a log, whatever follows";
  EXPECT_EQ(dump_form(R"([{"frames":[{"name":"f","filename":"a.py")", false), DumpForm::json);
  // Logs and JSON of other tools.
  EXPECT_EQ(dump_form("node1:17:17 [0] NCCL INFO Bootstrap", false), DumpForm::none);
  EXPECT_EQ(dump_form("[rank0]:[E305 02:47:11.010634557 ProcessGroup", false), DumpForm::none);
  EXPECT_EQ(dump_form("{\"version\":\"1.1\",\"host\":\"web\"}\n{\"ver", false), DumpForm::none);
  EXPECT_EQ(dump_form("{\n\"nccl_versions\":1", false), DumpForm::none);
  EXPECT_EQ(dump_form("{\"start\":{\"connected\":[", false), DumpForm::none);
}

}  // namespace
}  // namespace faultline
