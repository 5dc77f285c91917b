// RequestRate: how quickly a client sends a request. Only time in which the server waits for bytes
// counts, because it reads no faster than it can store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "service/clock.h"

namespace faultline {

// The connection's strand tells it; any thread may ask.
class RequestRate {
 public:
  // Nobody is called slow before the server has waited for this long.
  static constexpr std::chrono::seconds kLeastWait{3};

  // A request has begun: so many bytes of it are here.
  void begin(std::size_t bytes);
  void end();  // all of it is here
  void received(std::size_t bytes);
  void wait_begins(SteadyTime now);
  void wait_ends(SteadyTime now);

  // Nothing: the server does not wait for bytes of a request, or has not waited for long.
  std::optional<double> bytes_per_second(SteadyTime now) const;

 private:
  mutable std::mutex mutex_;
  bool is_begun_ = false;
  std::uint64_t bytes_ = 0;
  SteadyTime::duration waited_{0};
  std::optional<SteadyTime> waiting_since_;
};

}  // namespace faultline
