// Access: decides whether a request may be answered, by its token, or else by the certificate of
// its connection. May be used from any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/problem.h"
#include "http/router.h"
#include "http/tokens.h"

namespace faultline {

// Who asks, and why the request is refused, if it is.
struct Admission {
  std::string token;  // its name; empty: no known token
  std::string jobs;   // prefix of the names of the jobs that it is for; empty: all
  std::optional<Problem> refusal;
};

class Access {
 public:
  // Throws std::runtime_error with one line that names the file and the fix. `certificates`: the
  // server asks clients for certificates; otherwise no line of the file may name one.
  Access(std::filesystem::path file, bool certificates);

  // Throws likewise; then the previous tokens stay in force. Returns how many tokens there are.
  std::size_t reload();

  // `default_job`: the job of requests that name none.
  Admission admit(const Request& request, const Route& route, std::string_view default_job) const;

 private:
  // How many requests a token may still make at once: its rate fills this, each request takes one.
  struct Allowance {
    double requests = 0;
    std::chrono::steady_clock::time_point as_of;
  };

  std::shared_ptr<const Tokens> tokens() const;
  // Seconds until the token may make a request; 0: now, and the request is counted.
  int wait_of(const Token& token) const;

  std::filesystem::path file_;
  bool certificates_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;
  mutable std::map<std::string, Allowance, std::less<>> allowances_;  // of tokens with a rate
};

// Why a token for jobs whose names begin with `jobs` is not enough for this request; nothing if it
// is. `default_job` as above.
std::optional<Problem> beyond_its_jobs(std::string_view jobs, const Request& request,
                                       const Route& route, std::string_view default_job);

// The secret of a request: its bearer token, Splunk's token or, for senders that know nothing else,
// its Basic password or the second half of Elasticsearch's key; empty if it has none.
std::string secret_of(const Request& request);

}  // namespace faultline
