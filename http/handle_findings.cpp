// GET /api/v1/jobs/{job}/findings, /api/v1/findings/{id}
#include <fmt/format.h>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/json.hpp>
#include <boost/mp11/algorithm.hpp>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"

namespace faultline {
namespace json = boost::json;
namespace {

template <class Enum>
Result<std::optional<Enum>> enumerator(const QueryString& query, std::string_view name) {
  const auto text = query.text(name);
  if (!text) return std::optional<Enum>{};
  Enum value{};
  if (boost::describe::enum_from_string(text->c_str(), value)) return std::optional<Enum>{value};
  std::string known;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>([&](auto enumerator) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", enumerator.name);
  });
  return Error{Error::Kind::invalid_input,
               fmt::format("{} must be one of {}, not \"{}\"", name, known, printable_name(*text))};
}

json::value json_of(const StoredFinding& stored) {
  json::value value = to_json(stored.finding);
  json::object& object = value.as_object();
  object["job"] = stored.job;
  object["attempt"] = stored.attempt;
  object["opened"] = to_rfc3339(stored.opened);
  object["resolved"] = nullptr;
  if (stored.resolved) object["resolved"] = to_rfc3339(*stored.resolved);
  return value;
}

Result<FindingFilter> filter_of(const Request& request) {
  FindingFilter filter;
  filter.job = request.path_value("job");
  filter.cause = request.query.text("class").value_or("");
  filter.host = request.query.text("host").value_or("");
  const auto severity = enumerator<Severity>(request.query, "severity");
  if (!severity) return severity.error();
  filter.severity = *severity;
  const auto state = enumerator<FindingState>(request.query, "state");
  if (!state) return state.error();
  filter.state = *state;
  const auto rank = request.query.number("rank", 0, INT32_MAX);
  if (!rank) return rank.error();
  if (*rank) filter.rank = static_cast<int>(**rank);
  const auto since = request.query.time("since");
  if (!since) return since.error();
  filter.since = *since;
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return page.error();
  filter.limit = page->limit;
  const Result<std::uint64_t> after = page->after_number();
  if (!after) return after.error();
  filter.after = *after;
  return filter;
}

}  // namespace

Response list_findings(const Request& request, Services& services) {
  const Result<FindingFilter> filter = filter_of(request);
  if (!filter) return problem_response(filter.error());
  if (!services.jobs.diagnosis(filter->job)) return no_such_job(filter->job);
  services.jobs.reconcile(filter->job);  // what shows only with time may be due since the last line
  const FindingPage page = services.store.findings(*filter);
  json::array rows;
  for (const StoredFinding& stored : page.findings) rows.push_back(json_of(stored));
  return page_of("findings", std::move(rows), page.next ? std::to_string(*page.next) : "");
}

Response show_finding(const Request& request, Services& services) {
  FindingFilter filter;
  filter.id = request.path_value("id");
  filter.limit = 1;
  const FindingPage page = services.store.findings(filter);
  if (!page.findings.empty()) return Response::json(json_of(page.findings.front()));
  return problem_response(
      Error{Error::Kind::not_found,
            fmt::format("no finding has the id \"{}\"; /api/v1/jobs/{{job}}/findings lists a job's",
                        printable_name(filter.id))});
}

}  // namespace faultline
