#include "http/mcp/resources.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <utility>

#include "http/mcp/tools.h"
#include "http/query.h"
#include "model/handover.h"

namespace faultline {
namespace json = boost::json;
namespace {

constexpr std::string_view kBeforeJob = "faultline://jobs/";
constexpr std::string_view kBehindJob = "/diagnosis";
constexpr std::string_view kType = "text/markdown";

// `code`: if the fault is in the question.
RpcError error_of(const Response& refusal, int code) {
  const json::value problem = json::parse(refusal.body);
  return {refusal.status < 500 ? code : rpc::kFailed,
          std::string(problem.at("detail").as_string())};
}

}  // namespace

std::string resources_target(std::string_view cursor) {
  const std::string target = "/api/v1/jobs?limit=100";
  return cursor.empty() ? target : fmt::format("{}&cursor={}", target, percent_encoded(cursor));
}

McpOutcome resource_list(const Response& answer) {
  if (answer.status >= 400) return error_of(answer, rpc::kBadParams);
  const json::value page = json::parse(answer.body);
  json::array resources;
  for (const json::value& job : page.at("jobs").as_array()) {
    const std::string name(job.at("job").as_string());
    resources.push_back(
        json::object{{"uri", fmt::format("{}{}{}", kBeforeJob, percent_encoded(name), kBehindJob)},
                     {"name", name},
                     {"title", "Diagnosis of " + name},
                     {"mimeType", kType}});
  }
  json::object list{{"resources", std::move(resources)}};
  if (page.at("next_cursor").is_string()) list["nextCursor"] = page.at("next_cursor");
  return list;
}

std::optional<std::string> resource_target(std::string_view uri) {
  if (uri.size() <= kBeforeJob.size() + kBehindJob.size() || !uri.starts_with(kBeforeJob) ||
      !uri.ends_with(kBehindJob))
    return std::nullopt;
  uri.remove_prefix(kBeforeJob.size());
  uri.remove_suffix(kBehindJob.size());
  if (uri.find('/') != std::string_view::npos) return std::nullopt;
  const Result<std::string> job = percent_decoded(uri);
  if (!job || !check_name("job", *job)) return std::nullopt;
  return fmt::format("/api/v1/jobs/{}/diagnosis?format=markdown", percent_encoded(*job));
}

McpOutcome resource_contents(std::string_view uri, const Response& answer) {
  if (answer.status >= 400) return error_of(answer, rpc::kNoSuchResource);
  const std::string text = text_in_short(
      answer.body, "The tools list_findings and get_finding give the findings one by one.");
  return json::object{
      {"contents", json::array{json::object{{"uri", uri}, {"mimeType", kType}, {"text", text}}}}};
}

json::object resource_templates() {
  return {
      {"resourceTemplates",
       json::array{json::object{{"uriTemplate", fmt::format("{}{{job}}{}", kBeforeJob, kBehindJob)},
                                {"name", "diagnosis"},
                                {"title", "Diagnosis of a job"},
                                {"description", "Why the job hangs, fails or is slow."},
                                {"mimeType", kType}}}}};
}

}  // namespace faultline
