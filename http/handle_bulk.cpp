// POST, PUT /_bulk, /{index}/_bulk, and what clients of Elasticsearch ask before they send
#include <boost/json.hpp>

#include <vector>

#include "doors/shipped_objects.h"
#include "http/handlers.h"
#include "http/offload.h"
#include "http/push.h"

namespace faultline {
namespace asio = boost::asio;
namespace json = boost::json;
namespace {

// Clients refuse a server that does not say that it is theirs, or that is older than they are.
const Headers kProduct{{"X-Elastic-Product", "Elasticsearch"}};
constexpr std::string_view kVersion = "8.99.0";

Response answer(const json::value& value, unsigned status = 200) {
  Response response = Response::json(value);
  response.status = status;
  response.headers = kProduct;
  return response;
}

Response error(unsigned status, std::string_view type, std::string_view reason) {
  return answer({{"error", {{"type", type}, {"reason", reason}}}, {"status", status}}, status);
}

Response error(const Problem& problem) {
  const bool busy = problem.status == 429 || problem.status >= 500;
  Response response =
      error(problem.status, busy ? "es_rejected_execution_exception" : "illegal_argument_exception",
            problem.detail);
  if (problem.retry_after_seconds)
    response.headers.emplace_back("Retry-After", std::to_string(*problem.retry_after_seconds));
  return response;
}

json::value json_of(const BulkItem& item) {
  json::object result{{"_index", item.index}, {"_id", item.id}, {"status", 201}};
  if (!item.refused.empty()) {
    result["status"] = 400;
    result["error"] = {{"type", "mapper_parsing_exception"}, {"reason", item.refused}};
  }
  json::object named;
  named[item.action] = std::move(result);
  return named;
}

// Only the documents that were read are messages.
void name_refused(const Pushed& pushed, std::vector<BulkItem>& items) {
  auto refused = pushed.refused_at.begin();
  std::size_t message = 0;
  for (BulkItem& item : items) {
    if (refused == pushed.refused_at.end()) return;
    if (!item.refused.empty()) continue;
    if (*refused == message++) {
      item.refused = pushed.why_refused;
      ++refused;
    }
  }
}

Response answer_of(std::vector<BulkItem>& items, const Pushed& pushed) {
  if (pushed.all_refused())
    return error(Problem{.status = pushed.refused_status, .detail = pushed.why_refused});
  name_refused(pushed, items);
  bool errors = false;
  json::array results;
  for (const BulkItem& item : items) {
    errors = errors || !item.refused.empty();
    results.push_back(json_of(item));
  }
  // Fluent Bit looks for "errors":false,"items":[ in the first bytes, so these come in this order.
  return answer(json::object{{"took", 0}, {"errors", errors}, {"items", std::move(results)}});
}

}  // namespace

asio::awaitable<Response> push_bulk(const Request& request, Services& services,
                                    Exchange& exchange) {
  std::string index = "logs";
  for (const auto& [name, value] : request.path_values)
    if (name == "index") index = value;
  std::vector<BulkItem> items;
  const auto read = [&](std::string_view body, RecordVisitor& visitor) -> std::optional<Problem> {
    auto done = read_bulk(body, index, visitor);
    if (!done) return problem_from(done.error());
    items = std::move(*done);
    return std::nullopt;
  };
  const Pushed pushed = co_await take_push(request, services, exchange, "elasticsearch", read);
  if (pushed.problem) {
    if (pushed.problem->status == kClientLeft) co_return Response{.status = kClientLeft};
    co_return error(*pushed.problem);
  }
  Response response;
  auto tell = [&] { response = answer_of(items, pushed); };
  co_await offload(exchange.threads.parsing("", request.peer), tell);
  note_refused(pushed, response);
  co_return response;
}

Response show_cluster(const Request&, Services&) {
  return answer({{"name", "faultline"},
                 {"cluster_name", "faultline"},
                 {"cluster_uuid", "faultline"},
                 {"version",
                  {{"number", kVersion},
                   {"build_flavor", "default"},
                   {"build_type", "tar"},
                   {"lucene_version", "9.0.0"},
                   {"minimum_wire_compatibility_version", "7.17.0"},
                   {"minimum_index_compatibility_version", "7.0.0"}}},
                 {"tagline", "You Know, for Search"}});
}

Response show_cluster_health(const Request&, Services&) {
  return answer({{"cluster_name", "faultline"}, {"status", "green"}, {"timed_out", false}});
}

Response show_license(const Request&, Services&) {
  return answer({{"license", {{"status", "active"}, {"type", "basic"}, {"uid", "faultline"}}}});
}

Response show_nothing(const Request&, Services&) { return answer(json::object{}); }

}  // namespace faultline
