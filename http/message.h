// A request and an answer as handlers see them: plain values, nothing of the network.
#pragma once

#include <boost/json/fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/query.h"

namespace faultline {

struct ClientCertificate;

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string target;  // as sent
  std::string path;    // as sent, without the query
  Headers headers;
  std::string peer;                                      // the address it came from
  std::shared_ptr<const ClientCertificate> certificate;  // that TLS has verified; nothing: none
  bool encrypted = false;                                // it came over TLS
  bool has_body = false;
  std::string body;  // only of a route that takes a small one

  std::string jobs;  // prefix of the names of the jobs that it may see; empty: all
  std::string by;    // the name of its token; empty: no known one, or none is asked for

  bool may_be_told_of(std::string_view job) const { return job.starts_with(jobs); }

  // Filled in when its route is known.
  QueryString query;
  std::vector<std::pair<std::string, std::string>> path_values;

  std::string_view header(std::string_view name) const;  // "" if absent; any case
  bool has_header(std::string_view name) const;          // also an empty one
  const std::string& path_value(std::string_view name) const;
};

// The status if the client left before the answer; never sent, only counted.
inline constexpr unsigned kClientLeft = 499;

// Why a guard of the server refused a request instead of answering it.
struct Refusal {
  std::string_view reason;  // in a word
  std::string why;
};

struct Response {
  unsigned status = 200;
  std::string content_type;
  std::string body;
  Headers headers;     // besides Content-Type, Content-Length, Connection and Date
  bool close = false;  // the connection ends with this answer

  // For the audit.
  std::optional<Refusal> refusal;
  std::string did;  // what an operator did, if the path does not say it

  static Response json(const boost::json::value& value);
  static Response text(std::string body, std::string content_type = "text/plain; charset=utf-8");
};

std::string_view reason_of(unsigned status);  // "Not Found"

bool equal_ignoring_case(std::string_view a, std::string_view b);

// Which of `offered` the Accept header likes best; the first if it has no preference, "" if it
// wants none of them.
std::string_view best_offer(std::string_view accept, const std::vector<std::string_view>& offered);

}  // namespace faultline
