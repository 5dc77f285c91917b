// GET /api/v1/jobs/{job}/communicators/{id}/operations
#include <fmt/format.h>
#include <boost/json.hpp>
#include <variant>

#include "http/attempt.h"
#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "rules/answer/operations.h"

namespace faultline {
namespace {

namespace json = boost::json;

json::value time_json(const std::optional<Timestamp>& time) {
  return time ? json::value(json::string(to_rfc3339(*time))) : json::value(nullptr);
}

template <class Number>
json::value number_json(const std::optional<Number>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::value text_json(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object json_of(const SomeMembers& members) {
  return {{"ranks", members.ranks}, {"members", members.count}};
}

json::object json_of(const OperationView& operation) {
  return {{"text", operation.text},
          {"function", operation.function},
          {"count", number_json(operation.count)},
          {"sizes", text_json(operation.sizes)},
          {"datatype", text_json(operation.datatype)},
          {"reduction", text_json(operation.reduction)},
          {"root", number_json(operation.root)}};
}

json::object json_of(const PositionView& position) {
  json::array called;
  for (const CalledView& one : position.called) {
    json::object& object = called.emplace_back(json_of(one.members)).as_object();
    object["operation"] = json_of(one.operation);
  }
  return {{"position", position.position},
          {"label", position.label},
          {"differs", position.differs},
          {"called", std::move(called)},
          {"not_reached", json_of(position.not_reached)},
          {"not_known", json_of(position.not_known)},
          {"first", time_json(position.first)},
          {"last", time_json(position.last)}};
}

Result<OperationsAsked> operations_asked(const QueryString& query) {
  const Result<PageRequest> page = page_request(query, 100);
  if (!page) return page.error();
  const Result<std::uint64_t> next = page->after_number();
  if (!next) return next.error();
  const auto from = query.number("from");
  if (!from) return from.error();
  const auto to = query.number("to");
  if (!to) return to.error();
  if (*from && *to && **from > **to)
    return Error{
        Error::Kind::invalid_input,
        fmt::format("from must not be larger than to; {} is larger than {}", **from, **to)};
  OperationsAsked asked{.from = *from, .to = *to, .limit = page->limit};
  if (page->after.empty()) return asked;
  if (*next < from->value_or(0) || *next > to->value_or(UINT64_MAX))
    return Error{Error::Kind::invalid_input,
                 "cursor is of other positions; pass the next_cursor of this list"};
  asked.from = *next;
  return asked;
}

}  // namespace

Response list_operations(const Request& request, Services& services) {
  const Result<OperationsAsked> asked = operations_asked(request.query);
  if (!asked) return problem_response(asked.error());
  const auto meant = diagnosis_meant(request, services);
  if (const Response* none = std::get_if<Response>(&meant)) return *none;
  const auto& diagnosis = *std::get<std::shared_ptr<const Diagnosis>>(meant);
  const std::string& id = request.path_value("id");
  const auto told = services.jobs.operations(request.path_value("job"), diagnosis, id, *asked);
  if (!told)
    return problem_response(Error{
        Error::Kind::not_found,
        fmt::format("the job has no communicator \"{}\"; GET /api/v1/jobs/{{job}} lists them, as "
                    "communicators and process_groups",
                    printable_name(id))});
  json::array operations;
  for (const PositionView& position : told->operations) operations.push_back(json_of(position));
  json::object answer{{"job", request.path_value("job")},
                      {"attempt", told->attempt},
                      {"as_of", time_json(told->as_of)},
                      {"communicator", told->communicator},
                      {"nranks", told->nranks},
                      {"members_seen", told->members_seen},
                      {"basis", told->basis},
                      {"first_known", number_json(told->first_known)},
                      {"last_known", number_json(told->last_known)},
                      {"diverged_at", number_json(told->diverged_at)},
                      {"doubts", json::array(told->doubts.begin(), told->doubts.end())},
                      {"operations", std::move(operations)},
                      {"next_cursor", nullptr}};
  if (told->next) answer["next_cursor"] = cursor_for(std::to_string(*told->next));
  return Response::json(answer);
}

}  // namespace faultline
