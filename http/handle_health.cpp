// GET /healthz, /readyz
#include <fmt/format.h>
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/problem.h"

namespace faultline {

Response show_health(const Request&, Services&) {
  return Response::json(boost::json::object{{"status", "ok"}});
}

Response show_readiness(const Request&, Services& services) {
  if (!services.jobs.ready())
    return problem_response(Problem{.status = 503,
                                    .detail = "the store is being opened; ask again soon",
                                    .retry_after_seconds = 1});
  try {
    services.store.probe();
  } catch (const StoreError& error) {
    return problem_response(
        Problem{.status = 503,
                .detail = std::string("the store takes no writes: ") + error.what(),
                .retry_after_seconds = 5});
  }
  return Response::json(boost::json::object{{"status", "ready"}});
}

std::optional<Response> still_reading(Services& services) {
  constexpr std::size_t kSoonRead = 100;
  const std::size_t unread = services.jobs.count_unread();
  if (unread <= kSoonRead) return std::nullopt;
  return problem_response(Problem{
      .status = 503,
      .detail = fmt::format(
          "the server has just started: {} of {} jobs are not read back yet; ask again soon "
          "(questions about one job, and lists of jobs by name, are answered at once)",
          unread, services.jobs.count()),
      .retry_after_seconds = 2});
}

}  // namespace faultline
