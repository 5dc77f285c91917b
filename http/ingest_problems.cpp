#include "http/ingest_problems.h"

#include <fmt/format.h>

namespace faultline {
namespace {

constexpr std::chrono::seconds kRetryForMemory{5};

}  // namespace

std::string job_of_unlabelled(const Services& services) {
  return services.default_job.empty() ? "unlabelled" : services.default_job;
}

Problem store_problem(const std::exception_ptr& failure) {
  std::string reason;
  try {
    std::rethrow_exception(failure);
  } catch (const LacksMemory& lack) {
    return memory_problem(lack);
  } catch (const SourceMovedOn& moved) {
    return {.status = 409, .detail = moved.what(), .next_offset = moved.stored_offset};
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "unknown";
  }
  return {
      .status = 503,
      .detail = fmt::format("the store does not take the data ({}); nothing after the last receipt "
                            "is promised: send the same bytes again later",
                            reason),
      .retry_after_seconds = 5,
      .refused = "store"};
}

Problem memory_problem(const LacksMemory& lack) {
  return {.status = 503,
          .detail = fmt::format("{}; ask again, or send again, a little later", lack.what()),
          .retry_after_seconds = static_cast<int>(lack.retry_after.count()),
          .refused = kLacksMemory};
}

std::uint64_t most_weight_of(std::uint64_t bytes) {
  constexpr std::uint64_t kFreeWeight = 8'192;
  constexpr std::uint64_t kWeightOfAByte = 2;
  return kFreeWeight + kWeightOfAByte * bytes;
}

Problem tells_too_much(std::uint64_t bytes, std::uint64_t weight) {
  return {.status = 413,
          .detail = fmt::format("{} bytes unpack to more than {} events; no real log does this. "
                                "The rest of the body is not read. Send it in parts, or not "
                                "compressed",
                                bytes, weight - 1)};
}

Problem block_problem(const Error& error, std::uint64_t next_offset) {
  switch (error.kind) {
    case Error::Kind::conflict:
      return {.status = 412, .detail = error.message, .next_offset = next_offset};
    case Error::Kind::too_large:
      return {.status = 413, .detail = error.message, .next_offset = next_offset};
    default:
      return {
          .status = 415,
          .detail = fmt::format("{}; send the lines themselves to /api/v1/ingest", error.message),
          .next_offset = next_offset};
  }
}

std::optional<Problem> set_aside_problem(const LiveJobs& jobs, const std::string& job) {
  const auto known = jobs.known_as_set_aside(job);
  if (!known) return std::nullopt;
  if (known->for_memory) return memory_problem(LacksMemory(kRetryForMemory));
  if (known->for_now)
    return Problem{.status = 503,
                   .detail = fmt::format("the job {} is set aside for a moment: {}; send the body "
                                         "again later",
                                         job, known->why),
                   .retry_after_seconds = 5};
  return Problem{.status = 409,
                 .detail = fmt::format("the job {} is set aside: {}; delete it (curl -X DELETE "
                                       ".../api/v1/jobs/{}) and send its logs again",
                                       job, known->why, job)};
}

}  // namespace faultline
