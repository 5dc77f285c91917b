// OpenSources: which sources are being received right now, and by whom. A source has one writer at
// a time, because its bytes have one order.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "service/clock.h"

namespace faultline {

// The right to write to a source. Lost when somebody else takes it over; given back on destruction.
class SourceLease {
 public:
  SourceLease(std::string job, std::string name, std::function<void()> on_loss);

  const std::string& job() const { return job_; }
  const std::string& name() const { return name_; }
  bool lost() const { return lost_.load(); }

  // Runs `write` unless the lease is lost. The lease cannot be lost while `write` runs.
  bool write(const std::function<void()>& write);

  void touch(SteadyTime now) { last_bytes_.store(now); }

 private:
  friend class OpenSources;

  std::string job_;
  std::string name_;
  std::function<void()> on_loss_;
  std::mutex writing_;
  std::atomic<bool> lost_{false};
  std::atomic<SteadyTime> last_bytes_;
};

class OpenSources {
 public:
  // `lately`: a sender that is silent for longer may have stopped.
  explicit OpenSources(SteadyTime::duration lately = std::chrono::minutes{2}) : lately_(lately) {}

  // Takes the source from its present writer, whose `on_loss` is called (from this thread).
  std::shared_ptr<SourceLease> take(const std::string& job, const std::string& name,
                                    std::function<void()> on_loss);

  // Null: somebody is writing to it.
  std::shared_ptr<SourceLease> take_if_free(const std::string& job, const std::string& name,
                                            std::function<void()> on_loss);

  // The first of name, name#2, name#3, … that nobody is writing to and that is not in `others`.
  std::shared_ptr<SourceLease> take_free(const std::string& job, const std::string& name,
                                         std::function<void()> on_loss,
                                         const std::set<std::string>& others = {});

  // A body of the source ended. Some senders keep one body open for as long as the log grows,
  // others send piece by piece. `says_more`: the sender gave an offset, so more pieces may come.
  // `final`: this was the last one.
  void body_ended(const std::string& job, const std::string& name, SteadyTime now, bool says_more,
                  bool final);

  // The sources of a job that got bytes lately, and whose sender has more.
  std::set<std::string, std::less<>> live(std::string_view job, SteadyTime now) const;

  std::set<std::string, std::less<>> open(std::string_view job) const;

  std::set<std::string> jobs() const;  // that somebody is writing to
  std::size_t count() const;

 private:
  using Key = std::pair<std::string, std::string>;

  bool is_free(const Key& key) const;
  std::shared_ptr<SourceLease> enter(Key key, std::function<void()> on_loss);

  // A source that is sent in pieces.
  struct Growing {
    SteadyTime last_body;
    bool has_more = false;
  };

  const SteadyTime::duration lately_;
  // No lease outlives its stream, so the source of a lease that has not expired is being received.
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<SourceLease>> leases_;
  std::size_t sweep_at_ = 64;       // so many of them: time to forget those that have expired
  std::map<Key, Growing> growing_;  // those whose last body ended lately
  SteadyTime swept_;
};

}  // namespace faultline
