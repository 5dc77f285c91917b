// How much processor time the calls about each job have lately used. What uses much runs on threads
// that yield: otherwise one large job keeps the answers of all small ones waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "service/clock.h"

namespace faultline {

class SpentTime {
 public:
  static constexpr std::size_t kMostJobs = 1024;  // that are remembered
  static constexpr std::chrono::milliseconds kMuch{250};
  // After this time a job's account is half of what it was.
  static constexpr std::chrono::seconds kHalfLife{60};

  void add(std::string_view job, std::chrono::nanoseconds used, SteadyTime now);
  bool is_much(std::string_view job, SteadyTime now) const;

 private:
  struct Account {
    double seconds = 0;
    SteadyTime as_of;

    double at(SteadyTime now) const;
  };

  void make_room(SteadyTime now);

  mutable std::mutex mutex_;
  std::map<std::string, Account, std::less<>> jobs_;
};

// Adds what the thread uses while this lives.
class Spending {
 public:
  Spending(SpentTime* to, std::string_view job) : to_(to), job_(job) {}
  ~Spending() {
    if (to_ == nullptr) return;
    try {
      to_->add(job_, processor_time() - before_, steady_now());
    } catch (const std::bad_alloc&) {  // without memory, nothing is counted
    }
  }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

 private:
  SpentTime* to_;
  std::string_view job_;
  const std::chrono::nanoseconds before_ = processor_time();
};

}  // namespace faultline
