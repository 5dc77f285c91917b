// Several clients that send bodies, each to sources of its own, until told to stop. They send a
// body again that is not answered with 200, as the documentation says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "faults/client.h"
#include "faults/ledger.h"

namespace faultline::faults {

struct LoadCounts {
  std::atomic<std::uint64_t> acknowledged{0};
  std::atomic<std::uint64_t> refused{0};     // answered with another status than 200
  std::atomic<std::uint64_t> unanswered{0};  // and the client did not hang up on purpose
};

// Whether status 500 is a failure: only a server without memory may answer it.
enum class InternalErrors { wrong, excused };

class Load {
 public:
  // `journal_bytes` returns the journal's length now. The ledger must outlive the load, and so must
  // what `journal_bytes` uses.
  Load(Ledger& ledger, int port, std::uint64_t seed, std::function<std::uint64_t()> journal_bytes,
       InternalErrors internal_errors);
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Returns when no request is under way.
  void stop();

  const LoadCounts& counts() const { return counts_; }
  // Answers that break a promise. Call after stop().
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void send(std::size_t client, std::uint64_t seed);
  // True: acknowledged.
  bool send_body(Client& client, SentSource& source, Random& random);

  Ledger& ledger_;
  int port_;
  std::function<std::uint64_t()> journal_bytes_;
  InternalErrors internal_errors_;
  LoadCounts counts_;
  std::mutex failures_mutex_;
  std::vector<std::string> failures_;
  std::atomic<bool> stopping_{false};
  std::vector<std::jthread> clients_;
};

// What is wrong with an answer to a body; empty: nothing.
std::string judge(const Answer& answer, const SentSource& source, const SentBody& body);

// Sends each body that is not acknowledged until it is. Returns why that did not succeed.
std::vector<std::string> send_the_rest(Ledger& ledger, int port);

}  // namespace faultline::faults
