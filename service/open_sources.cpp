#include "service/open_sources.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline {

SourceLease::SourceLease(std::string job, std::string name, std::function<void()> on_loss)
    : job_(std::move(job)),
      name_(std::move(name)),
      on_loss_(std::move(on_loss)),
      last_bytes_(steady_now()) {}

bool SourceLease::write(const std::function<void()>& write) {
  const std::lock_guard lock(writing_);
  if (lost_) return false;
  write();
  return true;
}

std::shared_ptr<SourceLease> OpenSources::enter(Key key, std::function<void()> on_loss) {
  auto lease = std::make_shared<SourceLease>(key.first, key.second, std::move(on_loss));
  if (leases_.size() >= sweep_at_) {
    std::erase_if(leases_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, 2 * leases_.size());
  }
  leases_[std::move(key)] = lease;
  return lease;
}

std::shared_ptr<SourceLease> OpenSources::take(const std::string& job, const std::string& name,
                                               std::function<void()> on_loss) {
  std::shared_ptr<SourceLease> older;
  std::shared_ptr<SourceLease> newer;
  {
    const std::lock_guard lock(mutex_);
    Key key{job, name};
    if (const auto found = leases_.find(key); found != leases_.end()) older = found->second.lock();
    newer = enter(std::move(key), std::move(on_loss));
  }
  if (older) {
    {
      // Waits for a write that has begun; after it the older one writes no more.
      const std::lock_guard lock(older->writing_);
      older->lost_ = true;
    }
    older->on_loss_();
  }
  return newer;
}

bool OpenSources::is_free(const Key& key) const {
  const auto found = leases_.find(key);
  return found == leases_.end() || found->second.expired();
}

std::shared_ptr<SourceLease> OpenSources::take_if_free(const std::string& job,
                                                       const std::string& name,
                                                       std::function<void()> on_loss) {
  const std::lock_guard lock(mutex_);
  Key key{job, name};
  return is_free(key) ? enter(std::move(key), std::move(on_loss)) : nullptr;
}

std::shared_ptr<SourceLease> OpenSources::take_free(const std::string& job, const std::string& name,
                                                    std::function<void()> on_loss,
                                                    const std::set<std::string>& others) {
  const std::lock_guard lock(mutex_);
  Key key{job, name};
  const auto is_taken = [&] { return !is_free(key) || others.contains(key.second); };
  for (int number = 2; is_taken(); ++number) key.second = fmt::format("{}#{}", name, number);
  return enter(std::move(key), std::move(on_loss));
}

void OpenSources::body_ended(const std::string& job, const std::string& name, SteadyTime now,
                             bool says_more, bool final) {
  const std::lock_guard lock(mutex_);
  if (now - swept_ > lately_) {
    swept_ = now;
    std::erase_if(growing_,
                  [&](const auto& entry) { return now - entry.second.last_body > 2 * lately_; });
  }
  const auto [entry, is_first] = growing_.try_emplace({job, name});
  Growing& source = entry->second;
  // A log that came in one body is complete. If another body follows soon, more will follow.
  const bool goes_on = !is_first && now - source.last_body <= lately_;
  source = {.last_body = now, .has_more = !final && (says_more || goes_on)};
}

std::set<std::string, std::less<>> OpenSources::live(std::string_view job, SteadyTime now) const {
  std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex_);
  for (auto entry = growing_.lower_bound({std::string(job), ""});
       entry != growing_.end() && entry->first.first == job; ++entry)
    if (entry->second.has_more && now - entry->second.last_body <= lately_)
      names.insert(entry->first.second);
  for (auto entry = leases_.lower_bound({std::string(job), ""});
       entry != leases_.end() && entry->first.first == job; ++entry)
    if (const auto lease = entry->second.lock();
        lease && now - lease->last_bytes_.load() <= lately_)
      names.insert(entry->first.second);
  return names;
}

std::set<std::string, std::less<>> OpenSources::open(std::string_view job) const {
  std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex_);
  for (auto entry = leases_.lower_bound({std::string(job), ""});
       entry != leases_.end() && entry->first.first == job; ++entry)
    if (!entry->second.expired()) names.insert(entry->first.second);
  return names;
}

std::set<std::string> OpenSources::jobs() const {
  std::set<std::string> names;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, lease] : leases_)
    if (!lease.expired()) names.insert(key.first);
  return names;
}

std::size_t OpenSources::count() const {
  const std::lock_guard lock(mutex_);
  std::size_t open = 0;
  for (const auto& entry : leases_) open += entry.second.expired() ? 0 : 1;
  return open;
}

}  // namespace faultline
