// A finding is one thing that the rules believe, with the lines that show it. A diagnosis orders
// findings into causes and consequences. docs/api.md promises their JSON (model/json.h writes it).
#pragma once

#include <boost/describe.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cause.h"
#include "model/evidence_kind.h"
#include "model/explanation.h"
#include "model/incident.h"
#include "model/time.h"

namespace faultline {

enum class Severity { info, warning, error, critical };
BOOST_DESCRIBE_ENUM(Severity, info, warning, error, critical)

// running: calls go on. undecided: its logs are still coming, and what they say so far may change.
enum class Verdict { healthy, slow, hang, failed, corrupt, unknown, running, undecided };
BOOST_DESCRIBE_ENUM(Verdict, healthy, slow, hang, failed, corrupt, unknown, running, undecided)

// What a finding is about, as exactly as the evidence allows.
struct Subject {
  std::vector<std::string> hosts;
  std::vector<int> ranks;
  std::vector<std::string> gpus;  // host/0000:3b:00.0
  std::vector<std::string> nics;
  std::vector<std::string> communicators;
  bool operator==(const Subject&) const = default;
};

struct Evidence {
  std::string source;
  std::uint64_t line = 0;  // from 1
  std::uint64_t offset = 0;
  std::optional<Timestamp> time;
  std::string text;
  bool operator==(const Evidence&) const = default;
};

struct Action {
  std::string what;     // "do" in JSON
  std::string where;    // a host; empty: anywhere
  std::string command;  // empty: none
  bool operator==(const Action&) const = default;
};

enum class FindingState { open, resolved };
BOOST_DESCRIBE_ENUM(FindingState, open, resolved)

struct Finding {
  std::string id;             // the same cause on the same subject of one attempt has the same id
  Cause cause = Cause::none;  // "class" in JSON
  std::string title;
  Severity severity = Severity::error;
  double confidence = 0;
  Subject subject;
  std::optional<Timestamp> first_seen;
  std::optional<Timestamp> last_seen;
  bool zone_assumed = false;  // first_seen comes from a stamp that names no time zone
  std::uint64_t count = 1;
  std::vector<std::string> explains;  // ids of the findings this one accounts for
  std::vector<Evidence> evidence;
  std::vector<std::string> against;  // what speaks against it
  std::string remedy;                // in a word: exclude_node, fix_code; empty: none is known
  std::vector<Action> actions;
  FindingState state = FindingState::open;
  bool part_of_job = true;  // false: hardware on which no rank of the job was seen
  bool operator==(const Finding&) const = default;
};

enum class CheckStatus { pass, fail, unknown };
BOOST_DESCRIBE_ENUM(CheckStatus, pass, fail, unknown)

struct Check {
  std::string check;
  CheckStatus status = CheckStatus::unknown;
  std::string detail;
  std::string command;
};

struct MissingEvidence {
  std::string what;
  std::string why;
  std::string command;  // the command that prints it
  std::string file;     // with a command: the file for its output; else the file that holds it
  std::string query;    // of the URL to upload it to; empty: nothing is to be sent
  // Where an agent can fetch it: on these hosts, of these ranks. None: no agent can.
  std::optional<EvidenceKind> kind = std::nullopt;
  std::vector<std::string> hosts = {};
  std::vector<int> ranks = {};  // empty: of all that are on the host
};

// A line that looks like trouble and that no parser and no signature knows.
struct UnreadNote {
  Evidence line;
  std::uint32_t sources = 1;  // how many have lines of this form
};

struct RankTally {
  int expected = 0;
  int seen = 0;
  std::vector<int> behind;
  std::vector<int> silent;
};

// How the readers of a server's answers reach it.
struct ServerAddress {
  std::string url;              // "http://10.0.0.7:8686"; empty: there is none
  bool asks_for_token = false;  // from everybody
};

struct Diagnosis {
  std::string job;
  int attempt = 1;
  int attempts = 1;  // that the job has had
  std::optional<Timestamp> as_of;
  Verdict verdict = Verdict::unknown;
  std::string summary;
  std::vector<Finding> root_causes;  // most likely first
  std::vector<Finding> symptoms;
  std::vector<Finding> observations;  // real, but of other hardware, of another time, or harmless
  std::vector<Finding> so_far;        // suspected; decided only when more has come
  std::optional<std::chrono::seconds> judged_in;  // from now, unless more comes
  std::vector<std::string> chain;                 // ids, cause first
  std::vector<Check> checklist;
  std::vector<MissingEvidence> missing_evidence;
  std::vector<UnreadNote> unread;  // only where no cause is sure
  std::vector<NextTime> next_time;
  std::vector<HostCoverage> coverage;
  std::vector<TimelineEntry> timeline;  // entries without a time come last
  std::vector<ClockOffset> clock_offsets;
  Exclusion exclude;
  ServerAddress server;  // the one that gives this answer
  RankTally ranks;
  Explanation explanation;
};

}  // namespace faultline
