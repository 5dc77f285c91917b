#include "http/door_routes.h"

#include <iterator>

namespace faultline {
namespace {

constexpr Scopes kSenders{Scope::ingest};
constexpr Scopes kAnyone;

const std::vector<Parameter> kPushQuery{
    {"job", "string", "The job of all messages, whatever their labels say."},
    {"host", "string", "The host of all messages, whatever their labels say."},
    {"rank", "integer", "Rank of the messages whose labels name none.", {}, 0, 10'000'000},
    {"source", "string",
     "Name of the stream, where labels name no file, pod, unit or program; by default the door and "
     "the sender's address."},
};

Route push_at(std::string_view method, std::string_view pattern, Stream handler,
              std::string_view summary) {
  Route route{method, pattern, kSenders, handler, summary, kPushQuery};
  route.tells = Tells::of_those_it_may;
  route.takes_any_query = true;
  return route;
}

Route question_at(std::string_view method, std::string_view pattern, Answer handler,
                  std::string_view summary) {
  Route route{method, pattern, kAnyone, handler, summary, {}};
  route.always = true;
  route.takes_any_query = true;
  return route;
}

// What is asked before a client of Elasticsearch sends: nothing of it exists here, and all is well.
constexpr std::string_view kPrepared[] = {
    "/_xpack",
    "/_cat/health",
    "/_nodes/http",
    "/_ilm/policy/{name}",
    "/_index_template/{name}",
    "/_component_template/{name}",
    "/_template/{name}",
    "/_ingest/pipeline/{name}",
    "/_data_stream/{name}",
};

}  // namespace

std::vector<Route> door_routes() {
  std::vector<Route> routes{
      push_at("POST", "/api/v1/ingest/json", push_objects,
              "Takes messages as JSON: an object on each line, one behind the other, or a list."),
      question_at("GET", "/api/v1/ingest/json", show_health, "Health, for shippers that ask here."),
      push_at("POST", "/loki/api/v1/push", push_loki,
              "Takes what clients of Loki push: JSON, or protobuf packed by snappy."),
      question_at("GET", "/ready", show_ready, "Readiness, as clients of Loki ask for it."),
      push_at("POST", "/v1/logs", push_otlp,
              "Takes OpenTelemetry's logs over HTTP: protobuf or JSON."),
      push_at("POST", "/_bulk", push_bulk, "Takes bulk requests of Elasticsearch's clients."),
      push_at("PUT", "/_bulk", push_bulk, "The same as POST."),
      push_at("POST", "/{index}/_bulk", push_bulk, "The same, for an index."),
      push_at("PUT", "/{index}/_bulk", push_bulk, "The same as POST."),
      question_at("GET", "/_license", show_license, "Elasticsearch's license, for its clients."),
      question_at("GET", "/_cluster/health", show_cluster_health,
                  "Elasticsearch's health, for its clients."),
      push_at("POST", "/services/collector", push_events,
              "Takes events of Splunk's HTTP event collector."),
      push_at("POST", "/services/collector/event", push_events, "The same."),
      push_at("POST", "/services/collector/event/1.0", push_events, "The same."),
      push_at("POST", "/services/collector/raw", push_raw_events,
              "Takes lines, as Splunk's HTTP event collector does."),
      question_at("GET", "/services/collector/health", show_events_health,
                  "Health, as clients of Splunk ask for it."),
      question_at("GET", "/services/collector/health/1.0", show_events_health, "The same."),
      {"POST",
       "/upload",
       kSenders,
       upload_journal,
       "Takes what systemd-journal-upload sends, for as long as it sends.",
       {}},
      {"POST", "/journal/{job}/upload", kSenders, upload_journal, "The same, for one job.", {}},
  };
  for (const std::string_view pattern : kPrepared)
    for (const std::string_view method : {"GET", "PUT"})
      routes.push_back(question_at(method, pattern, show_nothing,
                                   "Asked by clients of Elasticsearch before they send."));
  return routes;
}

}  // namespace faultline
