#include "http/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "http/door_routes.h"

namespace faultline {
namespace {

constexpr Parameter kJob{"job",
                         "string",
                         "Name of the job; required unless the server has a default.",
                         {},
                         {},
                         {},
                         Needed::without_default_job};
constexpr Parameter kAttempt{
    "attempt", "integer", "An attempt of a restarted job; by default the latest.", {}, 1};
constexpr Parameter kClass{"class", "string", "Only of this class, such as gpu.off_bus."};
constexpr Parameter kSeverity{"severity", "string", "Only of this severity.",
                              "info,warning,error,critical"};
constexpr Parameter kState{"state", "string", "Only open findings, or only resolved ones.",
                           "open,resolved"};
constexpr Parameter kAboutHost{"host", "string", "Only findings about this host."};
constexpr Parameter kAboutRank{"rank", "integer", "Only findings about this rank.",
                               {},     0,         INT32_MAX};
constexpr Parameter kLimit{"limit", "integer", "At most this many rows, 1 to 1000.", {}, 1, 1000};
constexpr Parameter kCursor{"cursor", "string", "next_cursor of the previous page."};

const std::vector<Parameter> kIngestQuery{
    kJob,
    {"host", "string", "Host of the lines that name none."},
    {"rank", "integer", "Rank of the lines that name none.", {}, 0, 10'000'000},
    {"source", "string", "Name of the stream; by default the host and the sender's address."},
    {"offset",
     "integer",
     "Where in the source the body begins; what is held already is skipped.",
     {},
     0},
    {"final", "boolean", "true: the source is complete with this body."},
    {"boot_time", "string",
     "When the host of a kernel log started, for lines that are stamped with its uptime: RFC 3339, "
     "or seconds since 1970 (btime in /proc/stat)."},
};

const std::vector<Parameter> kReadQuery{
    kJob,
    kIngestQuery[1],
    kIngestQuery[2],
    {"source", "string", "Name of the stream.", {}, {}, {}, Needed::always},
    {"offset",
     "integer",
     "Where in the source the first block begins; what is held already is skipped.",
     {},
     0,
     {},
     Needed::always},
    {"reader",
     "string",
     "The version of the reader that made the blocks.",
     {},
     {},
     {},
     Needed::always},
    {"whatever_came_before", "boolean",
     "true: the sender cannot read its log again, although its reader was behind other lines than "
     "the server holds."},
};

constexpr Scopes kAnybody;
constexpr Scopes kSenders{Scope::ingest};
constexpr Scopes kReaders{Scope::read};
constexpr Scopes kSendersAndReaders{Scope::ingest, Scope::read};
constexpr Scopes kOperators{Scope::operate};
constexpr Scopes kAdmins{Scope::admin};

// Which jobs it tells of depends on the tools that are called; each looks at the token again.
Route mcp_route() {
  Route route{"POST",
              "/mcp",
              kReaders,
              answer_mcp,
              "The Model Context Protocol: tools for programs and agents that ask about jobs.",
              {}};
  route.tells = Tells::of_those_it_may;
  route.body_schema = "RpcMessage";
  return route;
}

// The page is one file for all addresses; its script reads the address.
Route page_at(std::string_view pattern, std::string_view summary,
              std::vector<Parameter> query = {}) {
  return {"GET", pattern, kAnybody,     show_page, summary, std::move(query),
          true,  false,   Runs::at_once};
}

const std::vector<Route> kRoutes{
    page_at(
        "/", "The page for people: what is wrong with which job.",
        {{"verdict", "string", "Only jobs with this verdict, or one of several: hang,failed."},
         {"sort", "string", "activity: those that were heard last first; by default the worst."},
         {"q", "string", "Only jobs whose name, cause or verdict has these words."}}),
    page_at("/jobs/{job}", "The page of one job.",
            {{"attempt", "string", "An attempt of a restarted job; by default the latest."}}),
    page_at("/findings", "The page of findings.",
            {{"state", "string", "open, or all."},
             {"job", "string", "Only findings of this job."},
             kClass,
             kAboutHost,
             {"q", "string", "Only findings with these words."}}),
    page_at("/findings/{id}", "The page of one finding."),
    page_at("/hosts", "The page of all hosts.",
            {{"q", "string", "Only hosts with these words, in their names or jobs."}}),
    page_at("/hosts/{host}", "The page of one host across its jobs."),
    {"GET",
     "/web/{file}",
     kAnybody,
     show_web_file,
     "A file of the page.",
     {},
     true,
     false,
     Runs::at_once},
    {"POST", "/api/v1/ingest", kSenders, ingest,
     "Takes logs: plain, gzip, zstd, xz, bzip2, tar, zip or multipart/form-data, read while they "
     "arrive. Answers when all is durable.",
     kIngestQuery},
    {"PUT", "/api/v1/ingest", kSenders, ingest, "The same as POST.", kIngestQuery},
    {"GET",
     "/api/v1/ingest/read",
     kSenders,
     show_reading,
     "For agents that read logs themselves: the server's reader, and where it stands in a source.",
     {kJob, {"source", "string", "Name of the stream.", {}, {}, {}, Needed::always}}},
    {"PUT", "/api/v1/ingest/read", kSenders, ingest_read,
     "For agents: takes what their reader made of a log's lines, instead of the lines.",
     kReadQuery},
    {"GET",
     "/api/v1/jobs",
     kReaders,
     list_jobs,
     "All jobs, one line each, with verdict and cause.",
     {{"verdict", "array", "Only jobs with one of these verdicts: hang,failed.",
       "healthy,slow,hang,failed,corrupt,unknown,running,undecided"},
      {"since", "string",
       "Only jobs of which something came since a time (RFC 3339), or an age such as 90m or 2h."},
      {"sort", "string",
       "activity: the latest first; severity: the worst first; by default by name.",
       "activity,severity"},
      {"format", "string", "json, or text: a table with a line for each job.", "json,text"},
      kLimit,
      kCursor},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"GET",
     "/api/v1/jobs/{job}",
     kReaders,
     show_job,
     "One job: hosts, GPUs, communicators, sources.",
     {}},
    {"DELETE",
     "/api/v1/jobs/{job}",
     kAdmins,
     delete_job,
     "Deletes the job and its logs. Its findings stay in the history, resolved.",
     {}},
    {"GET",
     "/api/v1/jobs/{job}/diagnosis",
     kReaders,
     show_diagnosis,
     "Why the job hangs, fails or is slow.",
     {{"format", "string", "By default what Accept asks for.", "json,text,markdown,html"},
      {"explain", "boolean", "true: also how the answer came about (JSON and text)."},
      {"verbose", "boolean",
       "true: text with all lines and steps, what passed, what is not known."},
      kAttempt}},
    {"GET",
     "/api/v1/jobs/{job}/ranks",
     kReaders,
     list_ranks,
     "Where every rank stands.",
     {{"brief", "boolean", "true: without the standing in each communicator."},
      {"rank", "integer", "Only this rank.", {}, 0, INT32_MAX},
      kAttempt,
      kLimit,
      kCursor}},
    {"GET",
     "/api/v1/jobs/{job}/communicators/{id}/operations",
     kReaders,
     list_operations,
     "What each rank of a communicator or process group called, position by position.",
     {{"from", "integer", "The first position; by default so that the last ones are shown.", {}, 0},
      {"to", "integer", "The last position; by default the last that is known.", {}, 0},
      kAttempt,
      kLimit,
      kCursor}},
    {"GET",
     "/api/v1/jobs/{job}/timeline",
     kReaders,
     show_timeline,
     "What happened when, as rows to draw: hosts, and the ranks that matter.",
     {kAttempt}},
    {"GET",
     "/api/v1/jobs/{job}/lines",
     kReaders,
     show_lines,
     "The lines around a given line, as far as they are kept.",
     {{"source",
       "string",
       "The source of the line, as evidence names it.",
       {},
       {},
       {},
       Needed::always},
      {"line", "integer", "The number of the line in the source.", {}, 1, {}, Needed::always},
      {"around", "integer", "How many lines before it and behind it; by default 5.", {}, 0, 200}}},
    {"POST",
     "/api/v1/jobs/{job}/reanalyze",
     kOperators,
     reanalyze_job,
     "Reads the kept lines of the job again, with the rules that are in force now.",
     {}},
    {"GET",
     "/api/v1/jobs/{job}/findings",
     kReaders,
     list_findings,
     "Causes and symptoms found in the job, also past ones.",
     {kClass,
      kSeverity,
      kState,
      kAboutHost,
      kAboutRank,
      {"since", "string", "Only findings that changed at or after this time (RFC 3339)."},
      kLimit,
      kCursor}},
    {"GET",
     "/api/v1/findings",
     kReaders,
     list_all_findings,
     "Findings of all jobs in the order in which they changed last, for systems that pull.",
     {{"since", "string",
       "Only findings that changed at or after this time (RFC 3339), or after the answer with this "
       "resume."},
      {"job", "string", "Only findings of this job."},
      kClass,
      kSeverity,
      kState,
      kAboutHost,
      kAboutRank,
      kLimit,
      kCursor},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"GET",
     "/api/v1/findings/stream",
     kReaders,
     stream_findings,
     "Findings as server-sent events, as they change; Last-Event-ID goes on where a stream ended.",
     {{"job", "string", "Only findings of this job."},
      {"after", "string", "Like Last-Event-ID; 0: from the first finding on."}},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"GET",
     "/api/v1/findings/{id}",
     kReaders,
     show_finding,
     "One finding with its evidence.",
     {},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"POST",
     "/api/v1/findings/{id}/review",
     kOperators,
     review_finding,
     "An operator's review: acknowledged, wrong, closed or reopened. In the query, or as JSON.",
     {{"verdict", "string", "acknowledged, wrong, closed or reopened.",
       "acknowledged,wrong,closed,reopened"},
      {"by", "string", "Who reviews it; by default the name of the token."},
      {"note", "string", "Why."}},
     false,
     true,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"GET",
     "/api/v1/wanted",
     kSenders,
     list_wanted,
     "For agents: what to fetch on a host, because it would decide a diagnosis.",
     {{"host", "string", "The agent's host.", {}, {}, {}, Needed::always},
      {"kinds", "array", "What the agent may fetch.",
       "kernel_log,port_counters,port_states,interfaces,shm,gpu_report,stacks,ras,flight_recorder"},
      {"wait",
       "integer",
       "How many seconds to wait until there is something; by default 0.",
       {},
       0,
       60}},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::of_those_it_may,
     false,
     {},
     true},
    {"POST",
     "/api/v1/wanted/outcome",
     kSenders,
     note_outcome,
     "For agents: what became of something that was wanted. In the query, or as JSON.",
     {{"host", "string", "The agent's host."},
      {"id", "string", "As it was told."},
      {"outcome", "string", "sent, failed, refused or dry_run.", "sent,failed,refused,dry_run"},
      {"detail", "string", "What ran, or why nothing did."}},
     false,
     true,
     Runs::where_it_may_wait,
     Tells::of_those_it_may},
    {"GET",
     "/api/v1/hosts",
     kReaders,
     list_hosts,
     "Every host across its jobs: findings, GPUs that failed jobs, the last event.",
     {{"job", "string", "Only hosts of this job."},
      {"gpu", "string", "Only hosts with this GPU: PCI address, UUID or serial number."},
      kLimit,
      kCursor},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::across_jobs},
    {"GET",
     "/api/v1/hosts/{host}",
     kReaders,
     show_host,
     "One host across its jobs: events (in pages), findings, GPUs with their failures, counters.",
     {kLimit, kCursor},
     false,
     false,
     Runs::where_it_may_wait,
     Tells::across_jobs},
    {"GET",
     "/api/v1/sources",
     kSendersAndReaders,
     list_sources,
     "The sources of a job and how far each is held, so that a sender can resume.",
     {kJob, kLimit, kCursor}},
    {"GET",
     "/api/v1/rules",
     kReaders,
     list_rules,
     "The signatures in force, in the order in which they are tried.",
     {{"class", "string", "Only of this class, such as network.link_down."}, kLimit, kCursor}},
    mcp_route(),
    {"GET", "/openapi.json", kReaders, show_openapi, "This description.", {}},
    {"GET",
     "/metrics",
     kReaders,
     show_metrics,
     "The metrics of the service, for Prometheus.",
     {},
     true},
    {"GET",
     "/healthz",
     kAnybody,
     show_health,
     "200 while the process lives.",
     {},
     true,
     false,
     Runs::at_once},
    {"GET",
     "/readyz",
     kAnybody,
     show_readiness,
     "200 when requests are served and the store takes writes.",
     {},
     true,
     false,
     Runs::beside_everything},
};

constexpr std::string_view kKnownMethods[] = {"GET",     "HEAD",  "POST",    "PUT",  "DELETE",
                                              "OPTIONS", "PATCH", "CONNECT", "TRACE"};

std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(std::min<std::size_t>(path.size(), 1));  // the slash
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

// The segments that the pattern's {names} stand for, still encoded; nothing if the path does not
// match.
std::optional<std::vector<std::pair<std::string_view, std::string_view>>> match(
    std::string_view pattern, std::string_view path) {
  std::vector<std::pair<std::string_view, std::string_view>> values;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (wanted.starts_with('{') && !given.empty())
      values.emplace_back(wanted.substr(1, wanted.size() - 2), given);
    else if (wanted != given)
      return std::nullopt;
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return values;
}

std::string allowed_methods(std::string_view path) {
  std::string allowed;
  for (const Route& route : routes()) {
    if (!match(route.pattern, path)) continue;
    allowed += fmt::format("{}, ", route.method);
    if (route.method == "GET") allowed += "HEAD, ";
  }
  if (!allowed.empty()) allowed += "OPTIONS";
  return allowed;
}

// Whether the path goes up a folder: "..", also encoded. No address here does, and no client sends
// one by mistake: curl and browsers resolve it.
bool goes_up(std::string_view path) {
  const Result<std::string> decoded = percent_decoded(path);
  std::string_view rest = decoded ? std::string_view(*decoded) : path;
  while (true) {
    const std::size_t end = std::min(rest.find_first_of("/\\"), rest.size());
    if (rest.substr(0, end) == "..") return true;
    if (end == rest.size()) return false;
    rest.remove_prefix(end + 1);
  }
}

// Whether a person in a browser asks, who would not know what to do with JSON.
bool wants_page(const Request& request) {
  const bool looks = request.method == "GET" || request.method == "HEAD";
  return looks && !request.path.starts_with("/api/") &&
         best_offer(request.header("Accept"), {"application/problem+json", "text/html"}) ==
             "text/html";
}

Response unroutable(const Request& request) {
  const bool everything = request.path == "*";
  const std::string allowed =
      everything ? "GET, HEAD, POST, PUT, DELETE, OPTIONS" : allowed_methods(request.path);
  if (std::find(std::begin(kKnownMethods), std::end(kKnownMethods), request.method) ==
      std::end(kKnownMethods))
    return problem_response(Problem{
        .status = 501,
        .detail = fmt::format("the method {} is not known here", printable_name(request.method))});
  if (allowed.empty() && wants_page(request)) return missing_page();
  if (allowed.empty())
    return problem_response(Problem{
        .status = 404,
        .detail = fmt::format("nothing is served at {}; /openapi.json lists everything that is",
                              printable_name(request.path))});
  Headers allow{{"Allow", allowed}};
  if (request.method == "OPTIONS") return {.status = 204, .headers = std::move(allow)};
  return problem_response(
      Problem{.status = 405,
              .detail = fmt::format("{} does not take {}; it takes {}",
                                    printable_name(request.path), request.method, allowed),
              .headers = std::move(allow)});
}

std::optional<Error> unknown_parameter(const QueryString& query, const Route& route) {
  for (const auto& entry : query.all()) {
    const auto known = [&](const Parameter& parameter) { return parameter.name == entry.first; };
    if (std::any_of(route.query.begin(), route.query.end(), known)) continue;
    std::string allowed;
    for (const Parameter& parameter : route.query)
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", parameter.name);
    return Error{Error::Kind::invalid_input,
                 fmt::format("unknown query parameter \"{}\"; {}", printable_name(entry.first),
                             allowed.empty() ? "none is taken here"
                                             : fmt::format("those taken here are {}", allowed))};
  }
  return std::nullopt;
}

}  // namespace

std::span<const Route> routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> rows = kRoutes;
    std::ranges::move(door_routes(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}

std::variant<const Route*, Response> find_route(Request& request) {
  if (goes_up(request.path))
    return problem_response(
        Problem{.status = 404, .detail = "an address has no \"..\"", .refused = "path"});
  // HEAD is answered as GET would be; the session leaves out the body.
  const std::string_view asked = request.method;
  const std::string_view method = asked == "HEAD" ? "GET" : asked;
  for (const Route& route : routes()) {
    if (route.method != method) continue;
    const auto values = match(route.pattern, request.path);
    if (!values) continue;
    for (const auto& [name, encoded] : *values) {
      Result<std::string> value = percent_decoded(encoded);
      if (!value) return problem_response(value.error());
      request.path_values.emplace_back(name, std::move(*value));
    }
    const std::size_t question = request.target.find('?');
    Result<QueryString> query = QueryString::parse(
        question == std::string::npos ? "" : std::string_view(request.target).substr(question + 1));
    if (!query) return problem_response(query.error());
    if (const auto error = unknown_parameter(*query, route); error && !route.takes_any_query)
      return problem_response(*error);
    request.query = std::move(*query);
    return &route;
  }
  return unroutable(request);
}

}  // namespace faultline
