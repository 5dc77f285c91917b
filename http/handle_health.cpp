// GET /healthz, /readyz
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/problem.h"

namespace faultline {

Response show_health(const Request&, Services&) {
  return Response::json(boost::json::object{{"status", "ok"}});
}

Response show_readiness(const Request&, Services& services) {
  if (!services.jobs.ready())
    return problem_response(
        Problem{.status = 503,
                .detail = "stored jobs are still being read back; ask again soon",
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

}  // namespace faultline
