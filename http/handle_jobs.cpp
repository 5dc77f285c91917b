// GET /api/v1/jobs, /api/v1/jobs/{job}, /api/v1/jobs/{job}/ranks, /api/v1/sources
#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "model/json.h"

namespace faultline {
namespace json = boost::json;
namespace {

json::object json_of(const StoredSource& stored, const std::string* refused) {
  json::object object{{"source", stored.source.name},
                      {"host", stored.source.host},
                      {"rank", nullptr},
                      {"next_offset", stored.position.offset},
                      {"lines", stored.position.lines},
                      {"recognized", stored.recognized},
                      {"events", stored.facts},
                      {"complete", stored.complete},
                      {"refused", json::array()},
                      {"last_received", to_rfc3339(stored.last_received)}};
  if (stored.source.rank >= 0) object["rank"] = stored.source.rank;
  if (refused != nullptr) object["refused"] = {*refused};
  return object;
}

}  // namespace

Response list_jobs(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 100);
  if (!page) return problem_response(page.error());
  std::vector<std::string> names = services.jobs.names();
  const auto first = page->after.empty()
                         ? names.begin()
                         : std::upper_bound(names.begin(), names.end(), page->after);
  const auto last = first + std::min<std::ptrdiff_t>(names.end() - first,
                                                     static_cast<std::ptrdiff_t>(page->limit));
  json::array jobs;
  for (auto name = first; name != last; ++name)
    if (const auto overview = services.jobs.overview(*name)) jobs.push_back(to_json(*overview));
  return page_of("jobs", std::move(jobs), last == names.end() ? "" : *(last - 1));
}

Response show_job(const Request& request, Services& services) {
  auto detail = services.jobs.detail(request.path_value("job"));
  if (!detail) return no_such_job(request.path_value("job"));
  // The state has them as they came, which tells nobody anything.
  std::sort(detail->sources.begin(), detail->sources.end(),
            [](const SourceView& a, const SourceView& b) { return a.name < b.name; });
  return Response::json(to_json(*detail));
}

Response list_ranks(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 1000);
  if (!page) return problem_response(page.error());
  const Result<std::uint64_t> after = page->after_number();
  if (!after) return problem_response(after.error());
  const auto ranks = services.jobs.ranks(request.path_value("job"));
  if (!ranks) return no_such_job(request.path_value("job"));
  const auto first = std::min<std::uint64_t>(*after, ranks->size());
  const auto last = std::min<std::uint64_t>(first + page->limit, ranks->size());
  json::array rows;
  for (std::uint64_t i = first; i < last; ++i) rows.push_back(to_json((*ranks)[i]));
  return page_of("ranks", std::move(rows), last == ranks->size() ? "" : std::to_string(last));
}

Response list_sources(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 1000);
  if (!page) return problem_response(page.error());
  const std::string job = request.query.text("job").value_or(services.default_job);
  if (job.empty())
    return problem_response(Error{Error::Kind::invalid_input, "say which job: ?job=NAME"});
  std::vector<StoredSource> sources = services.store.sources(job);
  if (sources.empty()) return no_such_job(job);
  std::sort(sources.begin(), sources.end(), [](const StoredSource& a, const StoredSource& b) {
    return a.source.name < b.source.name;
  });
  const auto refused = services.jobs.refused(job);
  json::array rows;
  std::string next;
  for (const StoredSource& stored : sources) {
    if (stored.source.name <= page->after && !page->after.empty()) continue;
    if (rows.size() == page->limit) {
      next = std::string(rows.back().at("source").as_string());
      break;
    }
    const auto why = refused.find(stored.source.name);
    rows.push_back(json_of(stored, why == refused.end() ? nullptr : &why->second));
  }
  return page_of("sources", std::move(rows), next);
}

}  // namespace faultline
