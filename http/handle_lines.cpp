// GET /api/v1/jobs/{job}/lines, POST /api/v1/jobs/{job}/reanalyze
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "service/lines_around.h"

namespace faultline {
namespace json = boost::json;
namespace {

constexpr std::uint64_t kMostAround = 200;
constexpr std::uint64_t kUsualAround = 5;

json::object json_of(const ShownLines& shown) {
  if (shown.what == ShownLines::What::line)
    return {{"line", shown.first}, {"last", shown.last}, {"text", shown.text}, {"left_out", ""}};
  return {{"line", shown.first},
          {"last", shown.last},
          {"text", nullptr},
          {"left_out", shown.what == ShownLines::What::calls ? "calls" : "not kept"}};
}

}  // namespace

Response show_lines(const Request& request, Services& services) {
  const std::string& job = request.path_value("job");
  const std::string source = request.query.text("source").value_or("");
  const auto line = request.query.number("line", 1, INT64_MAX);
  if (!line) return problem_response(line.error());
  const auto around = request.query.number("around", 0, kMostAround);
  if (!around) return problem_response(around.error());
  if (source.empty() || !*line)
    return problem_response(
        Error{Error::Kind::invalid_input,
              "name a line and its source: ?source=NAME&line=N, as evidence names them"});
  const std::optional<StoredSource> stored = services.store.source(job, source);
  if (!stored) {
    if (services.store.sources(job).empty()) return no_such_job(job);
    return problem_response(
        Error{Error::Kind::not_found,
              "the job has no such source; /api/v1/sources?job=NAME lists its sources"});
  }
  json::array lines;
  for (const ShownLines& shown :
       lines_around(services.store, job, source, **line, around->value_or(kUsualAround)))
    lines.push_back(json_of(shown));
  return Response::json(json::object{{"job", job},
                                     {"source", source},
                                     {"host", stored->source.host},
                                     {"line", **line},
                                     {"lines", std::move(lines)}});
}

Response reanalyze_job(const Request& request, Services& services) {
  const std::string& job = request.path_value("job");
  const auto [told, is_busy] = services.jobs.reanalyze(job);
  if (is_busy)
    return problem_response(
        Problem{.status = 503,
                .detail = "another job is being read again, or shortened; ask again soon",
                .headers = {{"Retry-After", "5"}}});
  if (!told) {
    if (const auto why = services.jobs.set_aside(job))
      return problem_response(Error{Error::Kind::conflict, "the job is set aside: " + *why});
    return no_such_job(job);
  }
  return Response::json(json::object{{"job", job},
                                     {"sources", told->sources},
                                     {"lines", told->lines},
                                     {"bytes", told->bytes},
                                     {"events_new", told->events_new},
                                     {"events_gone", told->events_gone},
                                     {"damaged", told->damaged}});
}

}  // namespace faultline
