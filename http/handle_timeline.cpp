// GET /api/v1/jobs/{job}/timeline
#include <boost/json.hpp>
#include <variant>

#include "http/attempt.h"
#include "http/handlers.h"
#include "http/page.h"
#include "rules/answer/time_rows.h"

namespace faultline {
namespace {

namespace json = boost::json;

json::value json_of(const std::optional<Timestamp>& time) {
  return time ? json::value(json::string(to_rfc3339(*time))) : json::value(nullptr);
}

json::object json_of(const TimeRow& row) {
  json::array marks;
  for (const TimeMark& mark : row.marks)
    marks.push_back(
        {{"finding", mark.finding}, {"from", to_rfc3339(mark.from)}, {"to", to_rfc3339(mark.to)}});
  return {{"kind", name_of_kind(row.kind)},
          {"name", row.name},
          {"host", row.host},
          {"ranks", json::array(row.ranks.begin(), row.ranks.end())},
          {"state", row.state},
          {"from", json_of(row.from)},
          {"surely_from", json_of(row.surely_from)},
          {"surely_to", json_of(row.surely_to)},
          {"to", json_of(row.to)},
          {"note", row.note},
          {"marks", std::move(marks)}};
}

}  // namespace

Response show_timeline(const Request& request, Services& services) {
  const auto meant = diagnosis_meant(request, services);
  if (const Response* none = std::get_if<Response>(&meant)) return *none;
  const auto& diagnosis = *std::get<std::shared_ptr<const Diagnosis>>(meant);
  const auto heard = services.jobs.heard(request.path_value("job"), diagnosis);
  if (!heard) return no_such_job(request.path_value("job"));
  const TimeRows times = time_rows_of(diagnosis, *heard);
  json::array rows;
  for (const TimeRow& row : times.rows) rows.push_back(json_of(row));
  return Response::json(
      json::object{{"from", json_of(times.from)},
                   {"to", json_of(times.to)},
                   {"last_line", json_of(times.last_line)},
                   {"rows", std::move(rows)},
                   {"doubts", json::array(times.doubts.begin(), times.doubts.end())}});
}

}  // namespace faultline
