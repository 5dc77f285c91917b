// The table of everything that is served. To add an endpoint: its handler in a file of its own, its
// line in handlers.h, its row in router.cpp, what it answers in openapi/answers.json. /openapi.json
// is written from the same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/handlers.h"
#include "http/problem.h"
#include "http/tokens.h"

namespace faultline {

// Whether a request without the parameter is refused.
enum class Needed {
  no,
  always,
  without_default_job,  // unless the server has a default job
};

struct Parameter {
  std::string_view name;
  std::string_view type;  // as JSON Schema calls it; array: several with commas between
  std::string_view description;
  std::string_view words = {};  // the allowed words, with commas between; empty: any
  std::optional<std::int64_t> least = {};
  std::optional<std::int64_t> most = {};
  Needed needed = Needed::no;
};

using Answer = Response (*)(const Request&, Services&);
using Stream = boost::asio::awaitable<Response> (*)(const Request&, Services&, Exchange&);

// Where a request is answered (http/threads.h).
enum class Runs {
  where_it_may_wait,
  beside_everything,  // on the thread of health, where nothing slow runs
  at_once,            // on the socket's thread: it takes no time
};

// Which jobs an answer is about, for tokens that are good for some jobs only.
enum class Tells {
  of_a_job,         // the job that the request names; all jobs, if it names none
  of_those_it_may,  // only jobs that the token is good for
  across_jobs,      // also other jobs than the one that the request names
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // {name} stands for one segment
  Scopes needs;              // a token needs any of these; none: anybody is answered
  std::variant<Answer, Stream> handler;
  std::string_view summary;
  std::vector<Parameter> query;
  bool always = false;      // answered even before the stored jobs are read back
  bool takes_body = false;  // a JSON object with the parameters of the query
  Runs runs = Runs::where_it_may_wait;
  Tells tells = Tells::of_a_job;
  bool takes_any_query = false;  // clients of other servers send parameters of those
  // Of a JSON body that is no list of parameters: its schema in openapi/schemas.json.
  std::string_view body_schema = {};
  bool hands_out = false;  // a GET that changes something: what is given once is not given again
};

std::span<const Route> routes();

// Returns the route for the request, and fills in the query and path values of the request; or the
// answer if there is no route: an error, or that to OPTIONS.
std::variant<const Route*, Response> find_route(Request& request);

}  // namespace faultline
