// Exceptions that ended no process: programs catch some of what they raise, log it, and go on.
#pragma once

#include <cstdint>
#include <map>

#include "rules/picture/who/source_speakers.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

// Whether a program of the operating system raised it: it began and ended in a package of the
// system, as the exceptions of a host's services do that stand in its syslog.
bool is_of_the_system(const PythonException& exception);

class CaughtExceptions {
 public:
  CaughtExceptions(const View& view, const TorchCrew& crew, const SourceSpeakers& speakers);

  // Whether the process that raised it worked on. `rank`: by the line's label; -1: it has none.
  bool was_caught(int rank, const TorchSaying& saying) const;

  // Whether it may have been caught, by the lines below it.
  bool may_have_been_caught(const TorchSaying& saying) const;

  // Whether a launcher says that a process ended badly: an exception may be the reason.
  bool somebody_failed() const { return somebody_failed_; }

 private:
  bool stands_at_the_end(const TorchSaying& saying) const;
  // Bytes from its end to the last step below it in its source, for each process that prints steps.
  std::uint64_t steps_below(const TorchSaying& saying) const;

  const View& view_;
  const SourceSpeakers& speakers_;
  const LineRef* step_ = nullptr;                       // the last one
  std::map<std::uint32_t, std::uint64_t> print_steps_;  // processes, by source
  bool ended_well_ = false;
  bool somebody_failed_ = false;
  bool ended_otherwise_ = false;
  bool worked_until_its_limit_ = false;
};

}  // namespace faultline
