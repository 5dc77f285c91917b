// GET /api/v1/jobs/{job}/diagnosis
#include <fmt/format.h>

#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <variant>
#include <vector>

#include "http/attempt.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "model/json.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/pasteable.h"

namespace faultline {
namespace {

struct Form {
  std::string_view name;
  std::string_view type;
};
// The first is what a client without a preference gets.
constexpr Form kForms[] = {{"json", "application/json"},
                           {"text", "text/plain"},
                           {"markdown", "text/markdown"},
                           {"html", "text/html"}};

// ?format= decides; without it Accept does.
std::variant<std::string_view, Problem> wanted_form(const Request& request) {
  if (const auto format = request.query.text("format")) {
    for (const Form& form : kForms)
      if (*format == form.name) return form.name;
    return Problem{.status = 400,
                   .detail = fmt::format("format must be json, text, markdown or html, not \"{}\"",
                                         printable_name(*format))};
  }
  std::vector<std::string_view> types;
  for (const Form& form : kForms) types.push_back(form.type);
  const std::string_view type = best_offer(request.header("Accept"), types);
  for (const Form& form : kForms)
    if (type == form.type) return form.name;
  return Problem{.status = 406,
                 .detail =
                     "the diagnosis comes as application/json, text/plain, text/markdown or "
                     "text/html; accept one of them"};
}

// As the asker reaches this service; what is no name of a host is none.
std::string server_of(const Request& request) {
  return fmt::format("{}://{}", request.encrypted ? "https" : "http", request.header("Host"));
}

// What agents fetched for the diagnosis, or could not.
boost::json::array fetched_json(const std::vector<EvidenceRequest>& requests) {
  boost::json::array fetched;
  for (const EvidenceRequest& request : requests)
    fetched.push_back(boost::json::object{
        {"kind", boost::describe::enum_to_string(request.kind, "")},
        {"host", request.host},
        {"ranks", boost::json::value_from(request.ranks)},
        {"asked_at", to_rfc3339(*request.asked_at)},
        {"answered_at", request.answered_at ? boost::json::value(to_rfc3339(*request.answered_at))
                                            : boost::json::value(nullptr)},
        {"outcome", boost::describe::enum_to_string(request.outcome, "")},
        {"detail", request.detail}});
  return fetched;
}

std::string fetched_text(const std::vector<EvidenceRequest>& requests) {
  std::string text = requests.empty() ? "" : "\nAsked of agents\n";
  for (const EvidenceRequest& request : requests) {
    std::string kind = boost::describe::enum_to_string(request.kind, "");
    std::ranges::replace(kind, '_', ' ');
    std::string outcome = boost::describe::enum_to_string(request.outcome, "");
    std::ranges::replace(outcome, '_', ' ');
    text += fmt::format("  {}  {} of {}: {}{}{}\n", to_rfc3339(*request.asked_at), kind,
                        request.host, outcome, request.detail.empty() ? "" : ", ", request.detail);
  }
  return text;
}

Response json_answer(const Diagnosis& diagnosis, bool explain,
                     const std::vector<EvidenceRequest>& asked) {
  boost::json::value document = to_json(diagnosis);
  if (!asked.empty()) document.as_object()["asked_of_agents"] = fetched_json(asked);
  if (explain) document.as_object()["explanation"] = to_json(diagnosis.explanation);
  return Response::json(document);
}

// The page quotes logs, which strangers may have written: nothing in it may run or be fetched.
Response html_answer(const Diagnosis& diagnosis, LiveJobs& jobs) {
  const auto ranks = jobs.ranks(diagnosis.job, diagnosis).value_or(std::vector<RankView>());
  const Heard heard = jobs.heard(diagnosis.job, diagnosis).value_or(Heard());
  Response response = Response::text(to_html(diagnosis, ranks, heard), "text/html; charset=utf-8");
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'unsafe-inline'");
  return response;
}

Response answer(const Diagnosis& diagnosis, std::string_view form, bool explain, bool verbose,
                LiveJobs& jobs) {
  const std::vector<EvidenceRequest> asked = jobs.wanted().asked(diagnosis.job);
  if (form == "json") return json_answer(diagnosis, explain, asked);
  if (form == "html") return html_answer(diagnosis, jobs);
  if (form == "markdown")
    return Response::text(to_markdown(diagnosis), "text/markdown; charset=utf-8");
  return Response::text(to_text(diagnosis, verbose) + fetched_text(asked) +
                        (explain ? to_text(diagnosis.explanation) : ""));
}

}  // namespace

Response show_diagnosis(const Request& request, Services& services) {
  const auto form = wanted_form(request);
  if (const Problem* problem = std::get_if<Problem>(&form)) return problem_response(*problem);
  const Result<bool> explain = request.query.boolean("explain");
  if (!explain) return problem_response(explain.error());
  const Result<bool> verbose = request.query.boolean("verbose");
  if (!verbose) return problem_response(verbose.error());
  const auto meant = diagnosis_meant(request, services);
  if (const Response* none = std::get_if<Response>(&meant)) return *none;
  const auto& diagnosis = std::get<std::shared_ptr<const Diagnosis>>(meant);
  const std::string_view name = std::get<std::string_view>(form);
  const Diagnosis told = addressed(
      *diagnosis, {.url = server_of(request), .asks_for_token = services.asks_for_tokens});
  Response response = answer(told, name, *explain, *verbose, services.jobs);
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

}  // namespace faultline
