// Everything the router's table points to. Handlers are plain functions that may block: they run on
// threads of their own (http/threads.h). Only those that read a body, or write an answer, bit by
// bit are coroutines.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>

#include "http/message.h"
#include "http/threads.h"
#include "service/services.h"

namespace faultline {

class AuditLog;
class Connection;
class RequestReader;

// A request whose body is still coming.
struct Exchange {
  Connection& connection;
  RequestReader& reader;
  Threads& threads;
  std::chrono::seconds body_idle_limit;
  AuditLog* audit;  // null: there is none
};

boost::asio::awaitable<Response> ingest(const Request& request, Services& services,
                                        Exchange& exchange);
boost::asio::awaitable<Response> ingest_read(const Request& request, Services& services,
                                             Exchange& exchange);
Response show_reading(const Request& request, Services& services);
boost::asio::awaitable<Response> upload_journal(const Request& request, Services& services,
                                                Exchange& exchange);
boost::asio::awaitable<Response> push_objects(const Request& request, Services& services,
                                              Exchange& exchange);
boost::asio::awaitable<Response> push_loki(const Request& request, Services& services,
                                           Exchange& exchange);
boost::asio::awaitable<Response> push_otlp(const Request& request, Services& services,
                                           Exchange& exchange);
boost::asio::awaitable<Response> push_bulk(const Request& request, Services& services,
                                           Exchange& exchange);
boost::asio::awaitable<Response> push_events(const Request& request, Services& services,
                                             Exchange& exchange);
boost::asio::awaitable<Response> push_raw_events(const Request& request, Services& services,
                                                 Exchange& exchange);
boost::asio::awaitable<Response> list_wanted(const Request& request, Services& services,
                                             Exchange& exchange);
Response note_outcome(const Request& request, Services& services);
boost::asio::awaitable<Response> answer_mcp(const Request& request, Services& services,
                                            Exchange& exchange);

// For an answer about all jobs: refuses while many jobs are not yet read back from the store.
std::optional<Response> still_reading(Services& services);

Response show_ready(const Request& request, Services& services);
Response show_events_health(const Request& request, Services& services);
// What clients of Elasticsearch ask before they send.
Response show_cluster(const Request& request, Services& services);
Response show_cluster_health(const Request& request, Services& services);
Response show_license(const Request& request, Services& services);
Response show_nothing(const Request& request, Services& services);

Response show_page(const Request& request, Services& services);
Response show_web_file(const Request& request, Services& services);
// 404 for people: the page has no such path.
Response missing_page();
Response list_jobs(const Request& request, Services& services);
Response show_job(const Request& request, Services& services);
Response delete_job(const Request& request, Services& services);
Response show_lines(const Request& request, Services& services);
Response reanalyze_job(const Request& request, Services& services);
Response list_ranks(const Request& request, Services& services);
Response list_operations(const Request& request, Services& services);
Response show_timeline(const Request& request, Services& services);
Response list_sources(const Request& request, Services& services);
Response show_diagnosis(const Request& request, Services& services);
Response list_findings(const Request& request, Services& services);
Response list_all_findings(const Request& request, Services& services);
boost::asio::awaitable<Response> stream_findings(const Request& request, Services& services,
                                                 Exchange& exchange);
Response review_finding(const Request& request, Services& services);
Response list_hosts(const Request& request, Services& services);
Response show_host(const Request& request, Services& services);
Response show_finding(const Request& request, Services& services);
Response list_rules(const Request& request, Services& services);
Response show_openapi(const Request& request, Services& services);
Response show_metrics(const Request& request, Services& services);
Response show_health(const Request& request, Services& services);
Response show_readiness(const Request& request, Services& services);

}  // namespace faultline
