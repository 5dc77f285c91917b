// What was sent to a server and what it has acknowledged; the checker relies on nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faults/random.h"

namespace faultline::faults {

// What the service makes of a line.
enum class LineKind { note, fact, call };
LineKind kind_of(std::string_view line);

// Notes are lines that no rule knows. With an added signature they are facts; while lines are read
// again they may be either.
enum class Notes { unknown, facts, either };

// Where a shipper sends to, and what it says there.
enum class Door { raw, json_lines, json_list, loki, otlp, elastic, splunk };

struct SentBody {
  std::size_t begin = 0;  // in the text of its source
  std::size_t end = 0;
  bool acknowledged = false;
  std::uint64_t journal_bytes = 0;  // the journal's length just after it was acknowledged
};

// One stream of numbered lines, all different, which is sent in bodies. A new body is made only
// when the one before is acknowledged; until then the same bytes are sent again.
struct SentSource {
  std::size_t number = 0;  // its host and its process are numbered by it
  std::size_t rank = 0;
  std::string job;
  std::string name;
  Door door = Door::raw;
  bool says_offset = false;
  std::string text;
  std::uint64_t lines = 0;
  std::vector<SentBody> bodies;

  std::string host() const;
  void add_body(std::uint64_t new_lines);
  SentBody* unacknowledged();
  std::size_t acknowledged_bytes() const;
  std::string_view text_of(const SentBody& body) const;
};

struct Ledger {
  std::vector<SentSource> sources;
  Notes notes = Notes::unknown;

  // The ledger as if the power had gone when the journal had this length: the first body that was
  // not acknowledged by then may have been on its way, later ones were not.
  Ledger as_of(std::uint64_t journal_bytes) const;
};

// Sources of several jobs; a client of the load has kSourcesOfClient of them, one after the other:
// one in four says its offset, two are pushed through one of the other doors.
inline constexpr std::size_t kClients = 4;
inline constexpr std::size_t kSourcesOfClient = 4;
inline constexpr std::size_t kJobs = 2;
inline constexpr std::size_t kRanksOfAJob = kClients * kSourcesOfClient / kJobs;  // a source each
Ledger empty_ledger();
std::vector<std::string> jobs_of(const Ledger& ledger);

}  // namespace faultline::faults
