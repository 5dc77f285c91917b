// GET /api/v1/wanted, POST /api/v1/wanted/outcome: what agents are asked to fetch.
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <set>

#include "http/connection.h"
#include "http/enumerator.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "rules/knowledge/without_secrets.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kLongestWait = 60;  // seconds

json::object wish_json(const EvidenceRequest& request) {
  return {{"id", request.id},
          {"job", request.job},
          {"kind", boost::describe::enum_to_string(request.kind, "")},
          {"ranks", json::value_from(request.ranks)},
          {"why", request.why}};
}

}  // namespace

// The agent's connection waits here; a thread is needed only to look.
boost::asio::awaitable<Response> list_wanted(const Request& request, Services& services,
                                             Exchange& exchange) {
  const std::string host = request.query.text("host").value_or("");
  if (const auto named = check_name("host", host); !named)
    co_return problem_response(named.error());
  const auto kinds = enumerators<EvidenceKind>(request.query, "kinds");
  if (!kinds) co_return problem_response(kinds.error());
  const auto wait = request.query.number("wait", 0, kLongestWait);
  if (!wait) co_return problem_response(wait.error());
  WantedEvidence& wanted = services.jobs.wanted();
  Connection& connection = exchange.connection;
  if (request.method == "HEAD") co_return Response::json(json::object{{"wanted", json::array()}});
  const auto subscription = wanted.changes().subscribe(connection.waker());
  const SteadyTime deadline = steady_now() + std::chrono::seconds(wait->value_or(0));
  const auto may_know = [&](std::string_view job) { return request.may_be_told_of(job); };
  while (true) {
    const std::vector<EvidenceRequest> taken =
        wanted.take(host, {kinds->begin(), kinds->end()}, may_know, utc_now());
    json::array wishes;
    for (const EvidenceRequest& wish : taken) wishes.push_back(wish_json(wish));
    if (!wishes.empty() || kinds->empty() || steady_now() >= deadline || connection.asked_to_stop())
      co_return Response::json(json::object{{"wanted", std::move(wishes)}});
    co_await connection.pause(deadline);
  }
}

Response note_outcome(const Request& request, Services& services) {
  const Result<QueryString> said =
      request.query.with_json(request.body, {"host", "id", "outcome", "detail"});
  if (!said) return problem_response(said.error());
  const std::string host = said->text("host").value_or("");
  if (const auto named = check_name("host", host); !named) return problem_response(named.error());
  const auto outcome = enumerator<EvidenceOutcome>(*said, "outcome");
  if (!outcome) return problem_response(outcome.error());
  if (!*outcome || **outcome < EvidenceOutcome::sent)
    return problem_response(
        Error{Error::Kind::invalid_input, "outcome must be sent, failed, refused or dry_run"});
  const std::shared_ptr<const Secrets> secrets = services.jobs.catalog().get()->secrets;
  std::string detail = without_secrets(*secrets, printable_name(said->text("detail").value_or("")));
  const auto may_know = [&](std::string_view job) { return request.may_be_told_of(job); };
  if (!services.jobs.wanted().answer(host, said->text("id").value_or(""), **outcome,
                                     std::move(detail), may_know, utc_now()))
    return problem_response(
        Problem{.status = 404, .detail = "nothing with this id was asked of this host"});
  return Response{.status = 204};
}

}  // namespace faultline
