// Takes the lines that a door made of messages into a source of a job: the way of all doors.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/destination.h"
#include "http/problem.h"
#include "http/threads.h"
#include "service/file_stream.h"
#include "service/services.h"

namespace faultline {

// Reads the job if it is not in memory, unless the server ends. Returns why it takes no messages:
// now (503), or ever. `peer`: as Threads::answering() has it.
boost::asio::awaitable<std::optional<Problem>> prepare_job_of_door(const std::string& job,
                                                                   std::string_view peer,
                                                                   Services& services,
                                                                   Threads& threads);

Source source_of(const Destination& destination);

struct DoorLinesTaken {
  std::optional<Problem> problem;  // the store took not all of them
  bool lease_lost = false;         // likewise: another connection writes to the source now
  bool too_heavy = false;          // likewise: their events weigh more than they may
  std::uint64_t weight = 0;
  std::uint64_t next_offset = 0;
  std::optional<UnansweredPushes::Push> push;  // of lines that are appended
};

// Hands whole lines to the store, and does not wait for the disk: `tracker` tells. Blocks its
// thread.
DoorLinesTaken take_door_lines(Source source, BodyStart start, std::string_view lines,
                               std::uint64_t most_weight, std::shared_ptr<SourceLease> lease,
                               std::shared_ptr<CommitTracker> tracker, Services& services);

// Judges the jobs that got lines. When the server ends, the next one does.
boost::asio::awaitable<void> judge_jobs_of_door(const std::vector<std::string>& jobs,
                                                std::string_view peer, Services& services,
                                                Threads& threads);

}  // namespace faultline
