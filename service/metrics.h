// What the service counts about itself, for /metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "alerts/exposition.h"
#include "model/batch.h"

namespace faultline {

// Counts durations into buckets fixed from 1 ms to 60 s.
class DurationHistogram {
 public:
  void observe(std::chrono::nanoseconds duration);
  void write(Exposition& out, Labels labels = {}) const;

 private:
  static constexpr std::array kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                      0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 60.0};
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

// Why a job was deleted.
enum class ForgottenFor { age, room };

// Why a message that came by syslog is not stored.
enum class SyslogLoss {
  flood,     // datagrams came faster than the store takes them
  kernel,    // likewise, and the system had no more room for them
  refused,   // its job takes none, or it tells of more than so many bytes may
  shutdown,  // the store did not take it, and the server ended
};
inline constexpr std::size_t kSyslogLosses = 4;

enum class SyslogRefusal {
  too_many,   // connections are open
  no_syslog,  // what came is another protocol, or has no end
};

class Metrics {
 public:
  // `route`: the pattern, so that there are only as many values as the router has rows.
  void count_request(std::string_view route, std::string_view method, unsigned status,
                     std::chrono::nanoseconds duration);

  // Call it for a durable batch. `kept_lines`: how many bytes of its lines are kept.
  void count_batch(const Batch& batch, std::size_t kept_lines);

  void count_duplicates(std::uint64_t bytes) { duplicate_bytes_ += bytes; }
  void count_commit(std::chrono::nanoseconds duration, bool failed);
  void count_fold(std::chrono::nanoseconds duration) { fold_duration_.observe(duration); }
  void count_diagnosis(std::chrono::nanoseconds duration) { diagnosis_duration_.observe(duration); }
  void count_shortened_job() { ++shortened_jobs_; }
  void count_rested_for_memory() { ++rested_for_memory_; }
  void count_forgotten_job(ForgottenFor why) {
    ++(why == ForgottenFor::age ? forgotten_for_age_ : forgotten_for_room_);
  }
  void count_forgotten_findings(std::uint64_t findings) { forgotten_findings_ += findings; }
  // Of a thread of sockets.
  void note_handler(std::chrono::nanoseconds duration);
  void connection_opened() { ++connections_; }
  void connection_closed() { --connections_; }
  void connection_refused() { ++refused_connections_; }
  void tls_refused() { ++refused_tls_; }
  void syslog_opened() { ++syslog_connections_; }
  void syslog_closed() { --syslog_connections_; }
  void count_syslog_refusal(SyslogRefusal why) {
    ++(why == SyslogRefusal::too_many ? syslog_too_many_ : no_syslog_);
  }
  void count_syslog(std::uint64_t messages, bool as_datagrams) {
    (as_datagrams ? syslog_datagrams_ : syslog_messages_) += messages;
  }
  void count_cut_syslog() { ++syslog_cut_; }
  void count_lost_syslog(SyslogLoss why, std::uint64_t messages) {
    lost_syslog_[static_cast<std::size_t>(why)] += messages;
  }
  std::uint64_t lost_syslog(SyslogLoss why) const {
    return lost_syslog_[static_cast<std::size_t>(why)];
  }
  // Of the server's own certificate.
  void set_certificate_expiry(std::int64_t seconds_since_1970) {
    certificate_expires_ = seconds_since_1970;
  }

  void write(Exposition& out) const;

 private:
  void write_requests(Exposition& out) const;
  void write_refusals(Exposition& out) const;
  void write_ingest(Exposition& out) const;
  void write_syslog(Exposition& out) const;
  void write_retention(Exposition& out) const;

  struct RouteTally {
    std::map<std::pair<std::string, std::string>, std::uint64_t> by_method_and_class;
    DurationHistogram duration;
  };

  mutable std::mutex mutex_;  // guards the maps
  std::map<std::string, RouteTally, std::less<>> routes_;
  std::map<std::string, std::uint64_t, std::less<>> dialects_;

  std::map<unsigned, std::uint64_t> refused_;  // requests, by status

  DurationHistogram commit_duration_;
  DurationHistogram fold_duration_;
  DurationHistogram diagnosis_duration_;
  std::atomic<std::uint64_t> failed_commits_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> duplicate_bytes_{0};
  std::atomic<std::uint64_t> lines_{0};
  std::atomic<std::uint64_t> recognized_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::atomic<std::uint64_t> facts_{0};
  std::atomic<std::uint64_t> kept_lines_{0};
  std::atomic<std::uint64_t> shortened_jobs_{0};
  std::atomic<std::uint64_t> rested_for_memory_{0};
  std::atomic<std::uint64_t> forgotten_for_age_{0};
  std::atomic<std::uint64_t> forgotten_for_room_{0};
  std::atomic<std::uint64_t> forgotten_findings_{0};
  std::atomic<std::chrono::nanoseconds> longest_handler_{std::chrono::nanoseconds{0}};
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<std::uint64_t> refused_connections_{0};
  std::atomic<std::uint64_t> refused_tls_{0};
  std::atomic<std::uint64_t> syslog_connections_{0};
  std::atomic<std::uint64_t> syslog_too_many_{0};
  std::atomic<std::uint64_t> no_syslog_{0};
  std::atomic<std::uint64_t> syslog_messages_{0};
  std::atomic<std::uint64_t> syslog_datagrams_{0};
  std::atomic<std::uint64_t> syslog_cut_{0};
  std::array<std::atomic<std::uint64_t>, kSyslogLosses> lost_syslog_{};
  std::atomic<std::int64_t> certificate_expires_{0};  // 0: it has none
};

}  // namespace faultline
