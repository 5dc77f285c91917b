// The catalog: what the field knows, as data. Compiled in from rules/knowledge/catalog/; a user's
// folder may replace files by name and add signatures.
#pragma once

#include <boost/describe.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/knowledge/conditions_catalog.h"
#include "rules/knowledge/counters_catalog.h"
#include "rules/knowledge/evidence_catalog.h"
#include "rules/knowledge/frames_catalog.h"
#include "rules/knowledge/grounds.h"
#include "rules/knowledge/performance_catalog.h"
#include "rules/knowledge/secrets.h"
#include "rules/knowledge/settings_catalog.h"
#include "rules/knowledge/signatures.h"
#include "rules/knowledge/trouble.h"
#include "rules/knowledge/word_hints.h"
#include "rules/knowledge/xid_details.h"

namespace faultline {

// A row of xid.csv, or of sxid.csv.
struct XidMeaning {
  int code = 0;
  std::string name;
  std::string meaning;
  Cause cause = Cause::none;  // none: it does not indicate a fault
  Severity severity = Severity::error;
  std::string impact;  // none, degrades, kills_process, kills_gpu, hang, varies
  std::string action;
  std::string escalation;
  // For an SXid: the word in its line: Fatal, Non-fatal, either (the driver decides when it
  // prints), none, unknown (no driver is known to print it).
  std::string printed;
};

// Which relation the subjects of cause and consequence must have.
enum class Relation { same_gpu, same_nic, same_host, same_rank, same_communicator, same_job };
BOOST_DESCRIBE_ENUM(Relation, same_gpu, same_nic, same_host, same_rank, same_communicator, same_job)

// A pair of causality.yaml: `cause` can explain `effect`.
struct CausalLink {
  Cause cause = Cause::none;
  Cause effect = Cause::none;
  std::vector<Relation> relations;  // any of them
  int told_before = 0;              // seconds by which the effect's lines may come first
};

// What to do about a class: advice.yaml. The texts are templates; rules/knowledge/advice.h fills
// them in.
struct Advice {
  std::string title;
  std::string remedy;         // exclude_node, fix_code: a word for programs
  bool exclude_host = false;  // the next start should leave out the host
  std::vector<Action> actions;
};

struct Catalog {
  std::map<int, XidMeaning> xids;
  std::map<int, XidMeaning> sxids;
  std::vector<XidDetail> xid_details;  // in the order of their file
  SettingsCatalog settings;
  ConditionsCatalog conditions;
  PerformanceCatalog performance;
  EvidenceCatalog evidence;
  Grounds grounds;
  std::shared_ptr<const CountersCatalog> counters = std::make_shared<CountersCatalog>();
  std::vector<CausalLink> causality;
  std::map<Cause, Advice> advice;
  std::shared_ptr<const Signatures> signatures = std::make_shared<Signatures>();
  FramesCatalog frames;
  std::shared_ptr<const Trouble> trouble = std::make_shared<Trouble>();
  std::shared_ptr<const WordHints> hints = std::make_shared<WordHints>();
  std::shared_ptr<const Secrets> secrets = std::make_shared<Secrets>();

  const XidMeaning* xid(int code) const;        // nullptr: not in the catalog
  const XidMeaning* sxid(int code) const;       // nullptr: not in the catalog
  const Advice* advice_for(Cause cause) const;  // nullptr: none is written
  bool explains(Cause cause, Cause effect, Relation relation) const;
};

// A file in override_folder replaces the built-in file of the same name; secrets.yaml adds to it.
// The other YAML files hold signatures: they are tried before the built-in ones and replace those
// with the same id. Throws std::runtime_error with the file, the entry and the correction: a broken
// catalog must not start.
Catalog load_catalog(const std::optional<std::filesystem::path>& override_folder = std::nullopt);

// Everything that is wrong with a user's files. A file's name says what it holds: advice.yaml,
// causality.yaml, xid.csv; any other YAML file holds signatures. Throws std::runtime_error if a
// file cannot be read.
std::vector<std::string> check_catalog_files(const std::vector<std::filesystem::path>& files);

}  // namespace faultline
