// GET /api/v1/ingest/read: what an agent needs to know to read a log itself.
#include <fmt/format.h>
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/problem.h"
#include "ingest/reader.h"
#include "rules/knowledge/reader_version.h"
#include "service/clock.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostToldCarry = std::size_t{16} << 10;

// An unfinished line is told to nobody who may only send. Behind a whole line a reader remembers
// what wrappers and reports need. Inside of a dump or a trace only the server reads on.
bool may_be_told(const SourcePosition& position) {
  if (position.carry.empty()) return true;
  if (position.carry.size() > kMostToldCarry) return false;
  const Reader reader({position.offset, position.lines, position.carry}, utc_now());
  return reader.reads_lines() && !reader.is_within_a_line();
}

json::value in_hex(std::string_view bytes) {
  json::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

Response show_reading(const Request& request, Services& services) {
  const std::string job = request.query.text("job").value_or(services.default_job);
  if (const auto good = check_name("job", job); !good) return problem_response(good.error());
  const std::string source = request.query.text("source").value_or("");
  if (const auto good = check_name("source", source); !good) return problem_response(good.error());
  const std::optional<StoredSource> known = services.jobs.settled_source(job, source);
  const SourcePosition position = known ? known->position : SourcePosition{};
  return Response::json(
      json::object{{"reader", reader_version(*services.jobs.catalog().get())},
                   {"source", source},
                   {"offset", position.offset},
                   {"lines", position.lines},
                   {"carry", may_be_told(position) ? in_hex(position.carry) : json::value()}});
}

}  // namespace faultline
