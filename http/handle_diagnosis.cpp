// GET /api/v1/jobs/{job}/diagnosis
#include <fmt/format.h>
#include <algorithm>
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"
#include "rules/diagnosis.h"

namespace faultline {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain";

// ?format= decides; without it Accept does.
std::variant<std::string_view, Problem> wanted_type(const Request& request) {
  if (const auto format = request.query.text("format")) {
    if (*format == "json") return kJson;
    if (*format == "text") return kText;
    return Problem{
        .status = 400,
        .detail = fmt::format("format must be json or text, not \"{}\"", printable_name(*format))};
  }
  const std::string_view type = best_offer(request.header("Accept"), {kJson, kText});
  if (!type.empty()) return type;
  return Problem{
      .status = 406,
      .detail = "the diagnosis comes as application/json or text/plain; accept one of them"};
}

}  // namespace

Response show_diagnosis(const Request& request, Services& services) {
  const auto type = wanted_type(request);
  if (const Problem* problem = std::get_if<Problem>(&type)) return problem_response(*problem);
  const auto attempt = request.query.number("attempt", 1);
  if (!attempt) return problem_response(attempt.error());
  const auto diagnosis = services.jobs.diagnosis(
      request.path_value("job"),
      static_cast<int>(std::min<std::uint64_t>(attempt->value_or(0), 1 << 30)));
  if (!diagnosis) return no_such_job(request.path_value("job"));
  if (*attempt && **attempt != static_cast<std::uint64_t>(diagnosis->attempt))
    return problem_response(Error{
        Error::Kind::not_found,
        fmt::format("the job has no attempt {}; its latest is {}", **attempt, diagnosis->attempt)});
  Response response = std::get<std::string_view>(type) == kText
                          ? Response::text(to_text(*diagnosis))
                          : Response::json(to_json(*diagnosis));
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

}  // namespace faultline
