// Who has come to an operation and who has not, as a witness tells it that saw all of its ranks: a
// barrier, a desync report, Horovod's list, JAX's coordination service. One row for an operation,
// whoever told it; an adapter for each witness writes the rows (told/), and what follows from them
// is worked out once, for all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/picture/who/torch_crew.h"

namespace faultline {

// How far a rank came in an operation.
enum class HowFar : std::uint8_t { unknown, not_entered, entered, started, finished };

enum class TellsOf : std::uint8_t {
  barrier,  // the witness counted who came
  report,   // it compared what ranks said of themselves
  pulse,    // it heard nothing more of a rank, wherever that stood
};

struct ToldRow {
  std::string witness;  // rows of one witness are compared with each other
  TellsOf tells_of = TellsOf::report;
  std::optional<std::uint64_t> sequence;
  std::map<int, HowFar> ranks;
  std::string missed;     // "did not come to monitored_barrier within 3000 ms"
  bool is_part = false;   // others may be missing, too
  bool repeated = false;  // told again for as long as it is so: who goes on was only late
  const LineRef* line = nullptr;

  std::set<int> with(HowFar how_far) const;
};

// Those whom the rows of a witness make the others wait for.
struct ToldAbsence {
  const ToldRow* row = nullptr;  // that tells it best
  std::set<int> ranks;
};

// The rows of each witness, as far as they are of the attempt that is looked at.
std::vector<ToldRow> told_rows(const View& view, const TorchCrew& crew);

// One of each witness at most. Who has come to another operation waits there, and the others do not
// wait for it; of numbered operations, the first counts.
std::vector<ToldAbsence> told_absences(const std::vector<ToldRow>& rows);

}  // namespace faultline
