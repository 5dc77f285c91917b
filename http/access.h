// Access: whether a request may be answered, by the token it shows, or else by the certificate of
// its connection. May be asked from any thread.
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

// Who asks, and why not, if not.
struct Admission {
  std::string token;  // its name; empty: none that is known
  std::string jobs;   // the beginning of the names of those it is for; empty: all
  std::optional<Problem> refusal;
};

class Access {
 public:
  // Throws std::runtime_error with one line that names the file and the mend. certificates: clients
  // are asked for theirs; else no token may stand for one.
  Access(std::filesystem::path file, bool certificates);

  // Throws likewise; then those that were stay in force. Returns how many there are.
  std::size_t reload();

  // default_job: of requests that name none.
  Admission admit(const Request& request, const Route& route, std::string_view default_job) const;

 private:
  // What a token may still ask for at once: its rate fills it, each request takes one.
  struct Allowance {
    double requests = 0;
    std::chrono::steady_clock::time_point as_of;
  };

  std::shared_ptr<const Tokens> tokens() const;
  // Seconds until the token may ask again; 0: now, and it has.
  int wait_of(const Token& token) const;

  std::filesystem::path file_;
  bool certificates_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;
  mutable std::map<std::string, Allowance, std::less<>> allowances_;  // of tokens with a rate
};

// The secret that a request shows as a bearer or, for senders that know nothing else, as the
// password of Basic; empty: it shows none.
std::string secret_of(const Request& request);

}  // namespace faultline
