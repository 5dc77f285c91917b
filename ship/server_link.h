// ServerLink: asks the server that logs are shipped to, from one thread.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "client/http_client.h"

namespace faultline {

struct ShipServer {
  Url url;  // its target: what comes before /api
  std::string ca_file;
  std::string token_file;  // read for each request: tokens are exchanged while we run
};

class ServerLink {
 public:
  // `options`: its ca_file does not matter.
  ServerLink(ShipServer server, ClientOptions options);

  // Without an answer if stop() was called, unless it is a `last` request.
  ClientAnswer ask(ClientRequest request, bool last = false);
  void stop();  // from any thread

  // What a request has to name to reach this path of the API: "/api/v1/ingest?source=…".
  std::string target(std::string_view path) const;
  std::string name() const;  // for people

 private:
  const ShipServer server_;
  const ClientOptions options_;
  boost::asio::io_context io_;
  std::shared_ptr<HttpClient> client_;
  std::atomic<bool> stopped_ = false;
};

// As a value in a query.
std::string query_escaped(std::string_view text);

// What a problem in an answer of the server says.
std::string problem_in(const ClientAnswer& answer);

}  // namespace faultline
