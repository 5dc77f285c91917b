#include "http/attempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/page.h"
#include "http/problem.h"

namespace faultline {

std::variant<std::shared_ptr<const Diagnosis>, Response> diagnosis_meant(const Request& request,
                                                                         Services& services) {
  const auto attempt = request.query.number("attempt", 1);
  if (!attempt) return problem_response(attempt.error());
  const std::string& job = request.path_value("job");
  auto diagnosis = services.jobs.diagnosis(
      job, static_cast<int>(std::min<std::uint64_t>(attempt->value_or(0), 1 << 30)));
  if (!diagnosis) return no_such_job(job);
  if (*attempt && **attempt != static_cast<std::uint64_t>(diagnosis->attempt))
    return problem_response(Error{
        Error::Kind::not_found,
        fmt::format("the job has no attempt {}; its latest is {}", **attempt, diagnosis->attempt)});
  return diagnosis;
}

}  // namespace faultline
