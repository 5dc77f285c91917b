#include "rules/knowledge/signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "model/cause.h"
#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

const Signatures& shipped() {
  static const Catalog catalog = load_catalog();
  return *catalog.signatures;
}

Remark remark(std::string text, std::string dialect = "", std::string level = "") {
  return {.dialect = std::move(dialect), .level = std::move(level), .text = std::move(text)};
}

// A line as its dialect's parser would hand it over.
Remark sample_of(const MessageSignature& signature, const std::string& text) {
  Remark line =
      remark(text, signature.dialect, signature.levels.empty() ? "" : signature.levels.front());
  line.place = signature.place;
  return line;
}

MessageSignature signature(std::string id, std::string literal, std::string pattern) {
  return {.id = std::move(id),
          .cause = Cause::nccl_error,
          .title = "t",
          .literals = {std::move(literal)},
          .pattern = std::move(pattern),
          .file = "ours.yaml:1"};
}

std::string refusal_of(std::vector<MessageSignature> all) {
  try {
    const Signatures signatures(std::move(all));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

std::string matched(const Signatures& signatures, const Remark& line) {
  const auto match = signatures.match(line);
  return match ? match->signature->id : "none";
}

std::string name_of(const testing::TestParamInfo<const MessageSignature*>& info) {
  std::string name = info.param->id;
  std::ranges::replace(name, '.', '_');
  return name;
}

std::vector<const MessageSignature*> pointers() {
  std::vector<const MessageSignature*> all;
  for (const MessageSignature& signature : shipped().all()) all.push_back(&signature);
  return all;
}

class ShippedSignature : public testing::TestWithParam<const MessageSignature*> {};
INSTANTIATE_TEST_SUITE_P(Catalog, ShippedSignature, testing::ValuesIn(pointers()), name_of);

TEST_P(ShippedSignature, HoldsWhatItPromises) {
  EXPECT_THAT(problems_of(*GetParam()), ElementsAre());
  EXPECT_FALSE(GetParam()->matches_not.empty()) << "a sample that must not match is missing";
}

TEST_P(ShippedSignature, IsTheOneThatItsSamplesMatch) {
  for (const std::string& sample : GetParam()->matches)
    EXPECT_EQ(matched(shipped(), sample_of(*GetParam(), sample)), GetParam()->id) << sample;
}

TEST_P(ShippedSignature, IsOnWhateverLevelItTakes) {
  for (const std::string& level : GetParam()->levels) {
    Remark line = sample_of(*GetParam(), GetParam()->matches.front());
    line.level = level;
    EXPECT_EQ(matched(shipped(), line), GetParam()->id) << level;
  }
}

TEST_P(ShippedSignature, AsksForItsLinesUnlessTheyAreKeptAnyway) {
  const auto& levels = GetParam()->levels;
  const bool warnings_only = levels == std::vector<std::string>{"warn"};
  if (warnings_only) return;
  for (const std::string& sample : GetParam()->matches)
    EXPECT_TRUE(shipped().wants("n1:3:4 [0] NCCL INFO " + sample, GetParam()->dialect)) << sample;
}

TEST(ShippedSignatures, HaveEachAnIdOfTheirOwn) {
  std::set<std::string> ids;
  for (const MessageSignature& signature : shipped().all())
    EXPECT_TRUE(ids.insert(signature.id).second) << signature.id;
  EXPECT_FALSE(ids.empty());
}

TEST(ShippedSignatures, RecoverAndExcuseOnlyWhatThereIs) {
  for (const MessageSignature& signature : shipped().all())
    for (const auto* ids : {&signature.recovers, &signature.excuses})
      for (const std::string& id : *ids)
        EXPECT_NE(shipped().find(id), nullptr) << signature.id << " names " << id;
}

// Kernel logs are long, and the search can only stride as far as the shortest literal is long.
TEST(ShippedSignatures, OfTheKernelLookForTextsThatAreLongEnoughToBeFast) {
  for (const MessageSignature& signature : shipped().all()) {
    if (signature.dialect != "kernel") continue;
    for (const std::string& literal : signature.literals)
      EXPECT_GE(literal.size(), 8U) << signature.id << ": " << literal;
  }
}

TEST(Signatures, OfTheKernelKnowTheirLinesWithoutAFramingOnlyWhereTheyBegin) {
  MessageSignature nfs = signature("a.nfs", "not responding", "nfs: server \\S+ not responding");
  nfs.dialect = "kernel";
  const Signatures signatures({nfs});
  EXPECT_TRUE(signatures.reads_like_kernel("nfs: server fs-01 not responding, still trying"));
  EXPECT_FALSE(signatures.reads_like_kernel("a server is not responding"));
  EXPECT_FALSE(signatures.reads_like_kernel(std::string(70, 'x') +
                                            "nfs: server fs-01 not responding, still trying"));
  EXPECT_FALSE(signatures.wants("nfs: server fs-01 not responding", ""));
  EXPECT_TRUE(signatures.wants("nfs: server fs-01 not responding", "kernel"));
  EXPECT_FALSE(signatures.wants("nfs: server fs-01 not responding", "system"));
}

TEST(Signatures, GiveWhatTheGroupsFound) {
  const Signatures signatures(
      {signature("a.b", "port ", R"((?P<device>\w+): port (?P<port>\d+)( down)?(?P<why> \w+)?)")});
  const auto match = signatures.match(remark("mlx5_1: port 2 down"));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->signature->id, "a.b");
  EXPECT_THAT(match->fields, ElementsAre(Pair("device", "mlx5_1"), Pair("port", "2")));
}

TEST(Signatures, TakeTheFirstOfThoseThatMatch) {
  const Signatures signatures({signature("a.narrow", "disk full", "disk full on (?P<path>/data)"),
                               signature("a.wide", "disk full", "disk full")});
  EXPECT_EQ(matched(signatures, remark("disk full on /data")), "a.narrow");
  EXPECT_EQ(matched(signatures, remark("disk full on /tmp")), "a.wide");
  EXPECT_EQ(matched(signatures, remark("disk is full")), "none");
}

TEST(Signatures, CountOnlyTheFirstOfAnId) {
  const Signatures signatures({signature("a.b", "ours", "ours"), signature("a.b", "theirs", "th")});
  EXPECT_EQ(signatures.all().size(), 1u);
  EXPECT_EQ(signatures.find("a.b")->pattern, "ours");
  EXPECT_EQ(signatures.find("a.c"), nullptr);
  EXPECT_EQ(matched(signatures, remark("theirs")), "none");
}

TEST(Signatures, TakeOnlyLinesOfTheirDialectAndLevel) {
  MessageSignature nccl = signature("a.nccl", "broken", "broken");
  nccl.dialect = "nccl";
  nccl.levels = {"warn"};
  const Signatures signatures({nccl});
  EXPECT_EQ(matched(signatures, remark("broken", "nccl", "warn")), "a.nccl");
  EXPECT_EQ(matched(signatures, remark("broken", "nccl", "info")), "none");
  EXPECT_EQ(matched(signatures, remark("broken", "torch", "warn")), "none");
  const Signatures any({signature("a.any", "broken", "broken")});
  EXPECT_EQ(matched(any, remark("broken", "nccl", "info")), "a.any");
  EXPECT_EQ(matched(any, remark("broken")), "a.any");
}

TEST(Signatures, TakeOnlyLinesFromTheirPlace) {
  MessageSignature multicast = signature("a.multicast", "Cuda failure", "Cuda failure");
  multicast.place = "transport/nvls";
  const Signatures signatures({multicast, signature("a.any", "Cuda failure", "Cuda failure")});
  Remark line = remark("Cuda failure 401");
  line.place = "transport/nvls.cc:178";
  EXPECT_EQ(matched(signatures, line), "a.multicast");
  line.place = "init.cc:412";
  EXPECT_EQ(matched(signatures, line), "a.any");
}

TEST(Signatures, AskForLinesThatNobodyElseKeeps) {
  MessageSignature warning = signature("a.warning", "kept anyway", "kept anyway");
  warning.levels = {"warn"};
  MessageSignature info = signature("a.info", "retrying (", "retrying");
  info.levels = {"warn", "info"};
  const Signatures signatures({warning, info, signature("a.any", "quota exceeded", "quota")});
  EXPECT_TRUE(signatures.wants("connect returned x, retrying (3/34)", ""));
  EXPECT_TRUE(signatures.wants("ours: quota exceeded for job 7", ""));
  EXPECT_FALSE(signatures.wants("kept anyway", ""));
  EXPECT_FALSE(signatures.wants("retrying", ""));
  EXPECT_FALSE(signatures.wants("", ""));
  EXPECT_FALSE(Signatures().wants("retrying (3/34)", ""));
}

TEST(Signatures, FindALiteralWhereverItStands) {
  for (const char* literal : {"four", "fiveX", "sixsix", "a literal that is rather long"}) {
    const Signatures signatures({signature("a.b", literal, literal)});
    for (std::size_t before = 0; before < 40; ++before)
      for (const std::size_t after : {0, 1, 7}) {
        const std::string text = std::string(before, '.') + literal + std::string(after, '.');
        EXPECT_TRUE(signatures.wants(text, "")) << text;
        EXPECT_EQ(matched(signatures, remark(text)), "a.b") << text;
        EXPECT_FALSE(
            signatures.wants(text.substr(0, before + std::string(literal).size() - 1), ""));
      }
  }
}

TEST(Signatures, KeepFieldsShortAndBytesAsTheyAre) {
  const Signatures signatures({signature("a.b", "name=", "name=(?P<name>[^;]*)")});
  const auto long_one = signatures.match(remark("name=" + std::string(5000, 'x') + ";"));
  ASSERT_TRUE(long_one);
  EXPECT_EQ(long_one->fields.at("name").size(), 256u);
  const std::string odd("name=\0\xff\xfe;", 9);
  const auto bytes = signatures.match(remark(odd));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->fields.at("name"), std::string("\0\xff\xfe", 3));
}

TEST(Signatures, RefuseWhatCannotBeUsedNamingFileAndId) {
  EXPECT_EQ(refusal_of({signature("a.b", "some", "(some")}),
            "ours.yaml:1: a.b: pattern does not compile: missing ): (some; correct it");
  EXPECT_EQ(refusal_of({signature("a.b", "abc", "abc")}),
            "ours.yaml:1: a.b: literal \"abc\" is too short; write at least 4 characters");
  MessageSignature none = signature("a.b", "x", "some");
  none.literals.clear();
  EXPECT_EQ(refusal_of({none}),
            "ours.yaml:1: a.b: literals are missing; name a text that is in every line that the "
            "pattern matches");
}

TEST(SignatureSamples, AreHeldAgainstThePattern) {
  MessageSignature one = signature("a.b", "disk full", "disk full on (?P<path>\\S+)");
  one.title = "{path} on {host} is full, says {who}";
  one.confidence = 1.5;
  one.dialect = "nccl";
  one.levels = {"warning"};
  one.matches = {"disk full on /data", "disk full", "disc full on /data"};
  one.matches_not = {"disk full on /tmp", "disk is full"};
  EXPECT_THAT(
      problems_of(one),
      ElementsAre(
          "ours.yaml:1: a.b: confidence 1.5 is not valid; use a number above 0 and at most 1",
          "ours.yaml:1: a.b: level \"warning\" is not a level of NCCL; use warn, info, abort, "
          "trace, call or version",
          "ours.yaml:1: a.b: placeholder {who} is unknown; use {host}, {rank}, {gpu} or a group of "
          "the pattern, (?P<who>...)",
          "ours.yaml:1: a.b: pattern does not match the sample \"disk full\"; correct the pattern "
          "or the sample",
          "ours.yaml:1: a.b: the sample \"disc full on /data\" holds none of the literals; add one "
          "that it holds",
          "ours.yaml:1: a.b: pattern matches \"disk full on /tmp\", which it must not; correct the "
          "pattern or the sample"));
  EXPECT_THAT(
      problems_of(signature("a.b", "some", "(some)?")),
      ElementsAre("ours.yaml:1: a.b: pattern matches an empty line; make it more specific"));
}

constexpr const char* kWhole = R"(
- id: ours.quota
  class: host.storage_stall
  title: "{path} on {host} is over its quota"
  severity: critical
  weight: echo
  blames: host
  confidence: 0.5
  dialect: nccl
  levels: [warn, info]
  literals: [Quota, quota]
  pattern: '[Qq]uota exceeded on (?P<path>\S+)'
  versions: "2.20.."
  actions:
    - do: Free some space.
      where: "{host}"
      command: du -sh {path}
  matches: ["quota exceeded on /data"]
  matches_not: ["quota fine"]
)";

TEST(SignatureFile, SaysEverythingASignatureHas) {
  const SignatureFile file = read_signatures("ours.yaml", kWhole);
  EXPECT_THAT(file.problems, ElementsAre());
  ASSERT_EQ(file.signatures.size(), 1u);
  const MessageSignature& read = file.signatures.front();
  EXPECT_EQ(read.id, "ours.quota");
  EXPECT_EQ(read.cause, "host.storage_stall");
  EXPECT_EQ(read.title, "{path} on {host} is over its quota");
  EXPECT_EQ(read.severity, Severity::critical);
  EXPECT_EQ(read.weight, Weight::echo);
  EXPECT_EQ(read.blames, Blames::host);
  EXPECT_EQ(read.confidence, 0.5);
  EXPECT_EQ(read.dialect, "nccl");
  EXPECT_THAT(read.levels, ElementsAre("warn", "info"));
  EXPECT_THAT(read.literals, ElementsAre("Quota", "quota"));
  EXPECT_EQ(read.pattern, R"([Qq]uota exceeded on (?P<path>\S+))");
  EXPECT_EQ(read.versions, "2.20..");
  EXPECT_THAT(read.actions, ElementsAre(Action{"Free some space.", "{host}", "du -sh {path}"}));
  EXPECT_THAT(read.matches, ElementsAre("quota exceeded on /data"));
  EXPECT_THAT(read.matches_not, ElementsAre("quota fine"));
  EXPECT_EQ(read.file, "ours.yaml:2");
}

TEST(SignatureFile, IsRefusedWithTheLineAndTheMend) {
  const std::string sound = "  literals: [some]\n  pattern: some\n  matches: [some]\n";
  const std::string head = "- id: a.b\n  class: nccl.error\n  title: t\n";
  struct Case {
    const char* why;
    std::string text;
    const char* expected;
  };
  const Case cases[] = {
      {"no YAML", "- id: [a\n- b: c\n",
       "ours.yaml:2: end of sequence flow not found; correct the YAML there"},
      {"no list", "id: a.b\n",
       "ours.yaml:1: this is not a list; write signatures, each with an id"},
      {"no id", "- class: nccl.error\n  title: t\n" + sound,
       "ours.yaml:1: id is missing; add \"id:\" to this entry"},
      {"an id without a family", "- id: full\n  class: nccl.error\n  title: t\n" + sound,
       "ours.yaml:1: id \"full\" is not a dotted name; write one such as ours.disk_full"},
      {"a class that is none", "- id: a.b\n  class: pcie.slow\n  title: t\n" + sound,
       "ours.yaml:2: class \"pcie.slow\" is unknown; use pcie.error or pcie.degraded"},
      {"a word of somebody else's", head + "  weight: heavy\n" + sound,
       "ours.yaml:4: weight \"heavy\" is unknown; use cause, echo, notice or harmless"},
      {"a number that is none", head + "  confidence: high\n" + sound,
       "ours.yaml:4: confidence \"high\" is not a number; write one"},
      {"a storm of one line", head + "  storm: {count: few}\n" + sound,
       "ours.yaml:4: count \"few\" is not a number; write one"},
      {"a span that is none", head + "  storm: {count: 10, within: week}\n" + sound,
       "ours.yaml:4: within \"week\" is unknown; use minute, hour or day"},
      {"neither yes nor no", head + "  lasts: long\n" + sound,
       "ours.yaml:4: lasts \"long\" is unknown; use true or false"},
      {"a mark that is none", head + "  marks: boot\n" + sound,
       "ours.yaml:4: marks \"boot\" is unknown; use nothing, maintenance_begins, "
       "maintenance_ends, past_boot, ended_well, last_words, gave_up, ended_from_outside, "
       "ended_at_a_limit or process_ends"},
      {"no sample", head + "  literals: [some]\n  pattern: some\n",
       "ours.yaml:1: matches is missing; add \"matches:\" to this entry"},
      {"a misspelled field", head + "  patern: some\n" + sound,
       "ours.yaml:4: field \"patern\" is unknown; a signature has the fields id, class, title, "
       "severity, weight, blames, confidence, dialect, levels, place, literals, pattern, versions, "
       "storm, recovers, excuses, lasts, marks, actions, matches, matches_not"},
      {"an id twice", head + sound + head + sound,
       "ours.yaml:7: a.b is listed twice, first in line 1; rename one of the two"},
      {"a deed that is none", head + "  actions:\n    - where: x\n" + sound,
       "ours.yaml:5: do is missing; add \"do:\" to this entry"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_THAT(read_signatures("ours.yaml", c.text).problems, ElementsAre(c.expected));
  }
}

TEST(SignatureFile, IsReadToItsEndWhateverIsWrong) {
  const SignatureFile file =
      read_signatures("ours.yaml", std::string("- id: full\n- nonsense\n") + (kWhole + 1));
  EXPECT_EQ(file.problems.size(), 2u);
  EXPECT_EQ(file.signatures.size(), 1u);
}

}  // namespace
}  // namespace faultline
