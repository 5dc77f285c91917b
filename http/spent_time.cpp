#include "http/spent_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace faultline {
namespace {

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

double SpentTime::Account::at(SteadyTime now) const {
  return seconds * std::exp2(-seconds_of(now - as_of) / seconds_of(kHalfLife));
}

void SpentTime::add(std::string_view job, std::chrono::nanoseconds used, SteadyTime now) {
  if (job.empty()) return;
  const std::lock_guard lock(mutex_);
  auto account = jobs_.find(job);
  if (account == jobs_.end()) {
    if (jobs_.size() >= kMostJobs) make_room(now);
    account = jobs_.emplace(job, Account{.seconds = 0, .as_of = now}).first;
  }
  account->second = {account->second.at(now) + seconds_of(used), now};
}

bool SpentTime::is_much(std::string_view job, SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  const auto account = jobs_.find(job);
  return account != jobs_.end() && account->second.at(now) >= seconds_of(kMuch);
}

// Forgets the half that used least.
void SpentTime::make_room(SteadyTime now) {
  std::vector<double> all;
  for (const auto& [job, account] : jobs_) all.push_back(account.at(now));
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  const double least = *middle;
  std::erase_if(jobs_, [&](const auto& entry) { return entry.second.at(now) <= least; });
}

}  // namespace faultline
