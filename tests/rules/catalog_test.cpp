#include "rules/knowledge/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <stdexcept>

#include "model/cause.h"
#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/embedded.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A temporary folder of overriding files; it is removed with the object.
class OverrideFolder {
 public:
  OverrideFolder() {
    std::string name = (fs::temp_directory_path() / "faultline-catalog-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~OverrideFolder() { fs::remove_all(path_); }
  OverrideFolder(const OverrideFolder&) = delete;
  OverrideFolder& operator=(const OverrideFolder&) = delete;

  const fs::path& path() const { return path_; }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  fs::path path_;
};

// The loader's complaint about a catalog with this file, without the folder's name.
std::string complaint_about(const std::string& name, std::string_view text) {
  const OverrideFolder folder;
  folder.write(name, text);
  try {
    load_catalog(folder.path());
  } catch (const std::runtime_error& error) {
    const std::string prefix = folder.path().string() + "/";
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with(prefix)) << what;
    return what.substr(std::min(prefix.size(), what.size()));
  }
  return "none";
}

const Catalog& shipped() {
  static const Catalog catalog = load_catalog();
  return catalog;
}

TEST(Catalog, ShipsItsFilesAndNoOthers) {
  std::set<std::string_view> names;
  for (const EmbeddedFile& file : embedded_files()) names.insert(file.name);
  EXPECT_EQ(names, (std::set<std::string_view>{
                       "advice.yaml", "causality.yaml", "classes.yaml", "conditions.yaml",
                       "counters.yaml", "evidence.yaml", "frames.yaml", "grounds.yaml",
                       "hints.yaml", "performance.yaml", "secrets.yaml", "settings.yaml",
                       "sxid.csv", "trouble.yaml", "xid.csv", "xid_details.csv"}));
}

TEST(Catalog, KnowsEveryXidUpTo177) {
  EXPECT_EQ(shipped().xids.size(), 177u);
  for (int code = 1; code <= 177; ++code) {
    const XidMeaning* xid = shipped().xid(code);
    ASSERT_NE(xid, nullptr) << code;
    EXPECT_EQ(xid->code, code);
    EXPECT_FALSE(xid->name.empty()) << code;
    EXPECT_FALSE(xid->action.empty()) << code;
  }
  EXPECT_EQ(shipped().xid(0), nullptr);
  EXPECT_EQ(shipped().xid(178), nullptr);
}

TEST(Catalog, MeansByAWellKnownXidWhatTheFieldMeans) {
  struct Case {
    const char* why;
    int code;
    const char* cause;
    Severity severity;
    const char* impact;
  };
  const Case cases[] = {
      {"a program's illegal access", 13, "software.gpu_memory_fault", Severity::error,
       "kills_process"},
      {"a program's page fault", 31, "software.gpu_memory_fault", Severity::error, "kills_process"},
      {"a command stream that broke on its way", 32, "gpu.hang", Severity::error, "kills_process"},
      {"a channel stopped; the GPU is healthy", 43, "software.gpu_memory_fault", Severity::warning,
       "kills_process"},
      {"clean-up, never a cause", 45, "gpu.teardown", Severity::warning, "kills_process"},
      {"double-bit error", 48, "gpu.ecc_uncorrectable", Severity::critical, "kills_process"},
      {"controller halted", 62, "gpu.hang", Severity::critical, "kills_gpu"},
      {"a remapping is pending: nothing stops", 63, "gpu.row_remap", Severity::info, "none"},
      {"a remapping failed", 64, "gpu.row_remap", Severity::critical, "kills_gpu"},
      {"NVLink", 74, "gpu.nvlink_error", Severity::critical, "hang"},
      {"off the bus", 79, "gpu.off_bus", Severity::critical, "kills_gpu"},
      {"corrected errors say nothing yet", 92, "", Severity::warning, "none"},
      {"contained memory error", 94, "gpu.ecc_uncorrectable", Severity::error, "kills_process"},
      {"uncontained memory error", 95, "gpu.ecc_uncorrectable", Severity::critical, "kills_gpu"},
      {"context switch timeout", 109, "gpu.hang", Severity::error, "hang"},
      {"firmware timeout", 119, "gpu.gsp_timeout", Severity::critical, "hang"},
      {"firmware crash", 120, "gpu.gsp_timeout", Severity::critical, "kills_gpu"},
      {"a peer's refused access", 137, "software.gpu_memory_fault", Severity::error,
       "kills_process"},
      {"NVLink 5", 149, "gpu.nvlink_error", Severity::error, "varies"},
      {"a notice about the recovery, no fault", 154, "", Severity::info, "none"},
      {"79's kin", 167, "gpu.off_bus", Severity::critical, "kills_gpu"},
      {"too many correctable PCIe errors", 176, "pcie.degraded", Severity::warning, "degrades"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const XidMeaning* xid = shipped().xid(c.code);
    ASSERT_NE(xid, nullptr);
    EXPECT_EQ(xid->cause, c.cause);
    EXPECT_EQ(xid->severity, c.severity);
    EXPECT_EQ(xid->impact, c.impact);
  }
}

TEST(Catalog, NeverBlamesTheGpuForAProgramsFault) {
  // A single Xid with one of these codes is the program's fault, whatever fleets do about it.
  for (int code : {11, 13, 25, 31, 43, 45, 68, 69, 108, 137}) {
    const Cause cause = shipped().xid(code)->cause;
    EXPECT_TRUE(is_one_of(cause, {Cause::software_gpu_memory_fault, Cause::gpu_teardown})) << code;
  }
  for (const auto& [cause, advice] : shipped().advice) {
    if (!is_of(cause, Family::software)) continue;
    for (const Action& action : advice.actions)
      EXPECT_THAT(action.what + action.command, Not(HasSubstr("eplac"))) << name_of(cause);
  }
}

TEST(Catalog, CallsCriticalOnlyWhatStops) {
  for (const auto& [code, xid] : shipped().xids) {
    if (xid.severity == Severity::critical) {
      EXPECT_TRUE(xid.impact == "kills_process" || xid.impact == "kills_gpu" ||
                  xid.impact == "hang")
          << code;
    }
    if (xid.impact == "none") {
      EXPECT_LE(xid.severity, Severity::warning) << code;
    }
  }
}

TEST(Catalog, HasAdviceForWhateverAnXidMayMean) {
  for (const auto& [code, xid] : shipped().xids)
    if (xid.cause != Cause::none) {
      EXPECT_NE(shipped().advice_for(xid.cause), nullptr) << name_of(xid.cause);
    }
  for (const CauseClass& known : cause_classes()) {
    const Cause cause = cause_named(known.name);
    const bool emitted = is(cause, Trait::symptom) || is_of(cause, {Family::gpu, Family::pcie});
    if (emitted) {
      EXPECT_NE(shipped().advice_for(cause), nullptr) << known.name;
    }
  }
  for (const Cause cause : {Cause::software_collective_skipped, Cause::software_collective_mismatch,
                            Cause::launch_rank_missing})
    EXPECT_NE(shipped().advice_for(cause), nullptr) << name_of(cause);
  EXPECT_EQ(shipped().advice_for(Cause::none), nullptr);
}

TEST(Catalog, SaysWhatAResetOrAPowerCycleEnds) {
  for (const auto& [cause, advice] : shipped().advice)
    for (const Action& action : advice.actions) {
      const std::string all = action.what + " " + action.command;
      const bool destroys = all.find("gpu-reset") != std::string::npos ||
                            all.find("power-cycle") != std::string::npos ||
                            all.find("reboot it") != std::string::npos;
      if (destroys) {
        EXPECT_THAT(action.what, testing::ContainsRegex("kills|ends")) << name_of(cause);
      }
    }
}

TEST(Catalog, KnowsWhatExplainsWhat) {
  struct Case {
    const char* why;
    const char* cause;
    const char* effect;
    Relation relation;
    bool expected;
  };
  const Case cases[] = {
      {"a lost GPU holds up its rank", "gpu.off_bus", "collective.rank_behind", Relation::same_rank,
       true},
      {"but not another rank of its host", "gpu.off_bus", "collective.rank_behind",
       Relation::same_host, false},
      {"everybody's timeout comes of it", "gpu.off_bus", "collective.timeout", Relation::same_job,
       true},
      {"79 first, 119 after", "gpu.off_bus", "gpu.gsp_timeout", Relation::same_gpu, true},
      {"never on another GPU", "gpu.off_bus", "gpu.gsp_timeout", Relation::same_host, false},
      {"the switches of its host see it go", "gpu.off_bus", "gpu.nvswitch_error",
       Relation::same_host, true},
      {"48 is followed by 63", "gpu.ecc_uncorrectable", "gpu.row_remap", Relation::same_gpu, true},
      {"the port dies before the GPU", "pcie.error", "gpu.off_bus", Relation::same_gpu, true},
      {"but not another card's", "pcie.error", "gpu.off_bus", Relation::same_host, false},
      {"a lost GPU is told of by its port first", "gpu.off_bus", "pcie.error", Relation::same_gpu,
       true},
      {"a link that is slow stops nobody", "pcie.degraded", "collective.stalled",
       Relation::same_job, false},
      {"memory that failed takes the host down", "host.memory_error", "host.down",
       Relation::same_host, true},
      {"a task hangs in storage", "host.storage_stall", "host.cpu_hang", Relation::same_host, true},
      {"45 and 43 follow a fault", "gpu.off_bus", "gpu.teardown", Relation::same_gpu, true},
      {"45 follows a kill", "process.aborted", "gpu.teardown", Relation::same_rank, true},
      {"clean-up explains nothing", "gpu.teardown", "collective.timeout", Relation::same_gpu,
       false},
      {"the rank behind is why others wait", "collective.rank_behind", "collective.timeout",
       Relation::same_communicator, true},
      {"those who wait are not why it is behind", "collective.timeout", "collective.rank_behind",
       Relation::same_communicator, false},
      {"a bad cable ends in a link that is down", "network.link_errors", "network.link_down",
       Relation::same_host, true},
      {"a link that goes down counts errors", "network.link_down", "network.link_errors",
       Relation::same_host, true},
      {"NCCL and df tell of one full /dev/shm", "host.shm_full", "host.shm_full",
       Relation::same_host, true},
      {"a dead host", "host.down", "process.silent", Relation::same_host, true},
      {"a skipped collective", "software.collective_skipped", "collective.rank_behind",
       Relation::same_rank, true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(shipped().explains(cause_named(c.cause), cause_named(c.effect), c.relation),
              c.expected)
        << c.why;
}

TEST(Catalog, LetsEveryStoppingCauseExplainTheSymptoms) {
  for (const CauseClass& known : cause_classes()) {
    const Cause cause = cause_named(known.name);
    const bool stops = !is(cause, Trait::symptom) && !is(cause, Trait::keeps_from_starting) &&
                       is_of(cause, {Family::gpu, Family::host, Family::software, Family::network,
                                     Family::launch});
    if (!stops) continue;
    for (const Cause symptom : {Cause::collective_stalled, Cause::collective_timeout,
                                Cause::process_aborted, Cause::nccl_error})
      // A host with another version need not be the one that stopped.
      EXPECT_TRUE(shipped().explains(
          cause, symptom,
          cause == Cause::software_version_mismatch ? Relation::same_rank : Relation::same_job))
          << known.name << " -> " << name_of(symptom);
    for (const Cause symptom : {Cause::collective_rank_behind, Cause::process_silent})
      EXPECT_TRUE(shipped().explains(cause, symptom, Relation::same_rank))
          << known.name << " -> " << name_of(symptom);
  }
}

TEST(Catalog, LetsNoSymptomExplainAFaultOfHardware) {
  for (const CausalLink& link : shipped().causality) {
    if (!is(link.cause, Trait::symptom)) continue;
    EXPECT_TRUE(link.effect == Cause::gpu_teardown ||
                !is_of(link.effect, {Family::gpu, Family::pcie, Family::host}))
        << name_of(link.cause) << " -> " << name_of(link.effect);
  }
}

TEST(CatalogOverride, ReplacesAFileByItsName) {
  const OverrideFolder folder;
  folder.write("xid.csv",
               "code,name,meaning,class,severity,impact,action,escalation\n"
               "79,OURS,\"Gone, as ever.\",gpu.off_bus,warning,kills_gpu,wait,none\n");
  folder.write("README.md", "Notes may lie beside the files.");
  const Catalog catalog = load_catalog(folder.path());
  ASSERT_EQ(catalog.xids.size(), 1u);
  EXPECT_EQ(catalog.xid(79)->meaning, "Gone, as ever.");
  EXPECT_EQ(catalog.xid(79)->severity, Severity::warning);
  EXPECT_EQ(catalog.advice.size(), shipped().advice.size());
  EXPECT_EQ(catalog.causality.size(), shipped().causality.size());
}

TEST(CatalogOverride, RefusesAFolderThatIsNotThere) {
  const OverrideFolder folder;
  const std::string missing = (folder.path() / "missing").string();
  try {
    load_catalog(missing);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), missing + ": is not a folder; name one that holds catalog files");
  }
}

TEST(CatalogOverride, RefusesANameThatWouldReplaceNothing) {
  EXPECT_EQ(complaint_about("xids.csv", ""),
            "xids.csv: no file of the catalog has this name; use advice.yaml, causality.yaml, "
            "conditions.yaml, counters.yaml, evidence.yaml, frames.yaml, grounds.yaml, hints.yaml, "
            "performance.yaml, "
            "secrets.yaml, settings.yaml, sxid.csv, "
            "trouble.yaml, xid.csv or xid_details.csv");
}

TEST(CatalogOverride, RefusesWordsOfTroubleThatAreNoPatternOrDoNotKnowTheirSamples) {
  const auto with = [](const std::string& ends) {
    return ends +
           "fails: {patterns: [failed], samples: [it failed]}\n"
           "hints: {patterns: [down], samples: [it is down]}\n"
           "quiet: {patterns: [INFO], samples: [INFO it failed]}\n"
           "harmless: {patterns: [nothing failed], samples: [nothing failed]}\n";
  };
  EXPECT_EQ(
      complaint_about("trouble.yaml", with("ends: {patterns: [broke], samples: [it broke]}\n")),
      "none");
  EXPECT_THAT(complaint_about("trouble.yaml", with("ends: {patterns: ['('], samples: [broke]}\n")),
              HasSubstr("pattern ( is not a valid regular expression"));
  EXPECT_THAT(
      complaint_about("trouble.yaml", with("ends: {patterns: [broke], samples: [it failed]}\n")),
      HasSubstr(
          "sample \"it failed\" is taken for fails, not for ends; correct the patterns or the "
          "sample"));
}

// They are not tried at every start.
TEST(Catalog, TriesTheSamplesOfItsOwnFiles) {
  int tried = 0;
  for (const EmbeddedFile& file : embedded_files())
    for (const auto& [name, check] : {std::pair{"hints.yaml", &check_word_hints},
                                      {"secrets.yaml", &check_secret_shapes},
                                      {"trouble.yaml", &check_trouble}})
      if (file.name == name) {
        check(file.name, file.text);
        ++tried;
      }
  EXPECT_EQ(tried, 3);
  EXPECT_GT(shipped().hints->all().size(), 40);
  EXPECT_FALSE(shipped().secrets->shapes().empty());
}

TEST(Catalog, HasNoIdTwice) {
  std::set<std::string> ids;
  for (const MessageSignature& signature : shipped().signatures->all())
    EXPECT_TRUE(ids.insert(signature.id).second) << signature.id;
}

TEST(CatalogOverride, RefusesHintsThatAreNoPatternOrDoNotKnowTheirSamples) {
  const auto with = [](const std::string& pattern, const std::string& group,
                       const std::string& sample) {
    return "never: [drip]\nwords: {pump: ['" + pattern +
           "'], leaks: [leak]}\nhints: [{class: host.error, about: a pump, words: [" + group +
           ", leaks], samples: [" + sample + "]}]\n";
  };
  EXPECT_EQ(complaint_about("hints.yaml", with("pumps?", "pump", "a PUMP leaks")), "none");
  EXPECT_THAT(complaint_about("hints.yaml", with("pump", "pump", "a pump leaks a drip")),
              HasSubstr("is taken for nothing"));
  EXPECT_EQ(complaint_about("hints.yaml", with("(", "pump", "a pump leaks")),
            "hints.yaml: pump: pattern ( is not a valid regular expression: missing ): (");
  EXPECT_EQ(complaint_about("hints.yaml", with("pump", "fan", "a pump leaks")),
            "hints.yaml:3: fan is not a group of words of this file; use one that is");
  EXPECT_EQ(
      complaint_about("hints.yaml", with("pump", "pump", "a pump broke")),
      "hints.yaml: sample \"a pump broke\" of a pump is taken for nothing; correct words or the "
      "sample");
}

TEST(CatalogOverride, RefusesOtherClasses) {
  EXPECT_THAT(complaint_about("classes.yaml", "- {class: gpu.ours, traits: []}\n"),
              HasSubstr("classes.yaml is built into the program and cannot be replaced"));
}

TEST(XidFile, IsRefusedWithTheLineAndTheMend) {
  struct Case {
    const char* why;
    std::string rows;
    const char* expected;
  };
  const Case cases[] = {
      {"a code twice", "79,N,m,,info,none,a,e\n80,N,m,,info,none,a,e\n79,N,m,,info,none,a,e\n",
       "xid.csv:4: Xid 79 is listed twice, first in line 2; remove one of the two"},
      {"no number", "7x,N,m,,info,none,a,e\n",
       "xid.csv:2: code \"7x\" is not the number of an Xid; write 1 or more"},
      {"not a code", "0,N,m,,info,none,a,e\n",
       "xid.csv:2: code \"0\" is not the number of an Xid; write 1 or more"},
      {"no meaning", "79,N,,,info,none,a,e\n",
       "xid.csv:2: Xid 79 has no meaning; write what it means"},
      {"a severity of somebody else's", "79,N,m,,fatal,none,a,e\n",
       "xid.csv:2: severity \"fatal\" is unknown; use info, warning, error or critical"},
      {"an impact that is none", "79,N,m,,info,bad,a,e\n",
       "xid.csv:2: impact \"bad\" is unknown; use none, degrades, kills_process, kills_gpu, hang "
       "or varies"},
      {"a misspelled class", "79,N,m,pcie.eror,info,none,a,e\n",
       "xid.csv:2: class \"pcie.eror\" is unknown; use pcie.error or pcie.degraded"},
      {"a class of no family", "79,N,m,hardware,info,none,a,e\n",
       "xid.csv:2: class \"hardware\" is unknown; begin with software, launch, host, gpu, pcie, "
       "network, config, performance, corruption, collective, process or nccl"},
      {"a comma without quotes", "79,N,m,n,gpu.off_bus,info,none,a,e\n",
       "xid.csv:2: 9 fields instead of 8; quote a field that holds a comma"},
      {"an open quote", "79,\"N,m,,info,none,a,e\n",
       "xid.csv:2: a quoted field is not closed; add the missing quote"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(
        complaint_about("xid.csv",
                        "code,name,meaning,class,severity,impact,action,escalation\n" + c.rows),
        c.expected);
  }
  const char* columns =
      "xid.csv:1: the first line must be code,name,meaning,class,severity,impact,action,escalation";
  EXPECT_EQ(complaint_about("xid.csv", ""), columns);
  EXPECT_EQ(complaint_about("xid.csv", "code,name\n"), columns);
  EXPECT_EQ(complaint_about("xid.csv",
                            "code,name,meaning,class,severity,impact,action,escalation,colour\n"),
            columns);
}

TEST(CausalityFile, IsRefusedWithTheLineAndTheMend) {
  struct Case {
    const char* why;
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"empty", "",
       "causality.yaml:1: this is not a list; write entries of causes, effects and relations"},
      {"a mapping", "a: b\n",
       "causality.yaml:1: this is not a list; write entries of causes, effects and relations"},
      {"an entry that is none", "- gpu.off_bus\n",
       "causality.yaml:1: this is not a mapping; an entry has the fields causes, effects, "
       "relations, told_before"},
      {"no YAML", "- causes: [a\n- b: c\n",
       "causality.yaml:2: end of sequence flow not found; correct the YAML there"},
      {"a misspelled field",
       "- cause: [gpu.off_bus]\n  effects: [gpu.hang]\n  relations: [same_gpu]\n",
       "causality.yaml:1: field \"cause\" is unknown; an entry has the fields causes, effects, "
       "relations, told_before"},
      {"a field twice",
       "- causes: [gpu.off_bus]\n  causes: [gpu.hang]\n  effects: [gpu.hang]\n"
       "  relations: [same_gpu]\n",
       "causality.yaml:2: causes is given twice; remove one of the two"},
      {"a missing field", "\n- causes: [gpu.off_bus]\n  effects: [gpu.hang]\n",
       "causality.yaml:2: relations is missing; add \"relations:\" to this entry"},
      {"a word for a list",
       "- causes: gpu.off_bus\n  effects: [gpu.hang]\n  relations: [same_gpu]\n",
       "causality.yaml:1: causes is not a list; write causes: [one, another]"},
      {"an empty list", "- causes: [gpu.off_bus]\n  effects: []\n  relations: [same_gpu]\n",
       "causality.yaml:2: effects is not a list; write effects: [one, another]"},
      {"a list in a list",
       "- causes: [gpu.off_bus]\n  effects: [[gpu.hang]]\n  relations: [same_gpu]\n",
       "causality.yaml:2: an item of effects is not a text; write one"},
      {"a class that is none",
       "- causes: [pcie.broken]\n  effects: [gpu.hang]\n  relations: [same_gpu]\n",
       "causality.yaml:1: class \"pcie.broken\" is unknown; use pcie.error or pcie.degraded"},
      {"a relation that is none",
       "- causes: [gpu.off_bus]\n  effects: [gpu.hang]\n  relations: [same_rack]\n",
       "causality.yaml:3: relation \"same_rack\" is unknown; use same_gpu, same_nic, same_host, "
       "same_rank, same_communicator or same_job"},
      {"a pair twice",
       "- causes: [gpu.off_bus]\n  effects: [gpu.hang]\n  relations: [same_gpu]\n"
       "- causes: [gpu.off_bus, gpu.thermal]\n  effects: [gpu.teardown, gpu.hang]\n"
       "  relations: [same_host]\n",
       "causality.yaml:4: gpu.off_bus -> gpu.hang is listed twice, first in line 1; join their "
       "relations"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(complaint_about("causality.yaml", c.text), c.expected);
  }
}

TEST(AdviceFile, IsRefusedWithTheLineAndTheMend) {
  struct Case {
    const char* why;
    const char* text;
    const char* expected;
  };
  const Case cases[] = {
      {"a list", "- a\n",
       "advice.yaml:1: the file (an advice under each class) is not a mapping; write names with "
       "values"},
      {"a class twice",
       "gpu.hang:\n  title: t\n  actions: [{do: x}]\ngpu.hang:\n  title: t\n"
       "  actions: [{do: x}]\n",
       "advice.yaml:4: gpu.hang is listed twice, first in line 1; remove one of the two"},
      {"a class that is none", "pcie.slow:\n  title: t\n  actions: [{do: x}]\n",
       "advice.yaml:1: class \"pcie.slow\" is unknown; use pcie.error or pcie.degraded"},
      {"no title", "gpu.hang:\n  actions: [{do: x}]\n",
       "advice.yaml:2: title is missing; add \"title:\" to this entry"},
      {"an empty title", "gpu.hang:\n  title: ''\n  actions: [{do: x}]\n",
       "advice.yaml:2: title is not a text; write one"},
      {"no action", "gpu.hang:\n  title: t\n  actions: []\n",
       "advice.yaml:3: actions is not a list; write at least one \"- do:\""},
      {"an action without a deed", "gpu.hang:\n  title: t\n  actions:\n    - where: x\n",
       "advice.yaml:4: do is missing; add \"do:\" to this entry"},
      {"a misspelled field of an action",
       "gpu.hang:\n  title: t\n  actions:\n    - do: x\n      comand: y\n",
       "advice.yaml:5: field \"comand\" is unknown; an action has the fields do, where, command"},
      {"a placeholder that means nothing",
       "gpu.hang:\n  title: t\n  actions:\n    - do: x\n      command: nvidia-smi -i {gpuid}\n",
       "advice.yaml:5: placeholder {gpuid} is unknown; use {host}, {gpu}, {gpu_smi}, {nic}, "
       "{port}, "
       "{netdev}, {pid}, {log}, {peer} or {rank}"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(complaint_about("advice.yaml", c.text), c.expected);
  }
}

TEST(Complaints, AreOneLineWhateverTheyQuote) {
  EXPECT_EQ(complaint_about("causality.yaml",
                            "- causes: [\"gpu.\\e[2J\\nx\"]\n  effects: [gpu.hang]\n"
                            "  relations: [same_gpu]\n")
                .find_first_of("\n\x1b"),
            std::string::npos);
}

TEST(EvidenceFile, IsRefusedIfItIsNoList) {
  EXPECT_EQ(complaint_about("evidence.yaml", "a: b\n"),
            "evidence.yaml:1: this is not a list; write entries, each with what it is");
}

}  // namespace
}  // namespace faultline
