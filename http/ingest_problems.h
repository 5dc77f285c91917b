// Why logs are not taken, and where they go if they do not say it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "http/problem.h"
#include "service/live_jobs.h"
#include "service/services.h"

namespace faultline {

// The job of messages that name none: the server's default or, if it has none, one in which they
// are kept and can be seen.
std::string job_of_unlabelled(const Services& services);

// `failure`: what the store threw.
Problem store_problem(const std::exception_ptr& failure);

// Why lines are refused, as metrics tell it.
inline constexpr std::string_view kLacksMemory = "memory";

// While all jobs together take too much memory.
Problem memory_problem(const LacksMemory& lack);

// How much the events of so many bytes may weigh, before they are unpacked. A flood of them must
// cost its sender as much as us.
std::uint64_t most_weight_of(std::uint64_t bytes);
Problem tells_too_much(std::uint64_t bytes, std::uint64_t weight);

// Why a block is not taken, for a body of blocks: 412 if it has to be read again from next_offset,
// 415 if the sender has to send lines instead, 413 if it says too much.
Problem block_problem(const Error& error, std::uint64_t next_offset);

// The problem to answer if the job is set aside: it takes no more logs.
std::optional<Problem> set_aside_problem(const LiveJobs& jobs, const std::string& job);

}  // namespace faultline
