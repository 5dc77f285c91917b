#include "service/retention.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "logging/log.h"

namespace faultline {
namespace {

constexpr std::chrono::seconds kBetween{60};
// A job that something came of so lately is at work, however large the store is.
constexpr std::chrono::hours kAtWork{1};

}  // namespace

void Retention::apply(SteadyTime now) {
  if (now < next_) return;
  // Short times are for trying it out.
  std::chrono::seconds between = kBetween;
  for (const std::chrono::seconds limit : {settings_.jobs, settings_.findings})
    if (limit.count() > 0) between = std::min(between, limit);
  next_ = now + between;
  const Timestamp today = utc_now();
  if (settings_.jobs.count() > 0) forget_old_jobs(today);
  store_.drop_old_lines(settings_.lines);
  if (settings_.bytes > 0) forget_jobs_for_room(today);
  if (settings_.findings.count() > 0)
    metrics_.count_forgotten_findings(store_.delete_findings_ended(today - settings_.findings));
}

bool Retention::may_go(const StoredJob& job) const {
  return !jobs_.is_stopping() && jobs_.open_sources().open(job.name).empty();
}

// Something may have come of it since it was looked at.
void Retention::forget(const StoredJob& job, ForgottenFor why, std::string_view said) {
  if (!jobs_.forget(job.name, job.last_received)) return;
  metrics_.count_forgotten_job(why);
  say(LogLevel::info, "job-forgotten", "a job is forgotten; what was found in it stays",
      {{"job", job.name}, {"why", said}});
}

void Retention::forget_old_jobs(Timestamp now) {
  for (const StoredJob& job : store_.jobs())
    if (job.last_received < now - settings_.jobs && may_go(job))
      forget(job, ForgottenFor::age, "nothing came of it for as long as --keep-jobs says");
}

// The oldest first, and none that is at work.
void Retention::forget_jobs_for_room(Timestamp now) {
  if (store_.bytes_in_use() <= settings_.bytes) {
    has_told_of_no_room_ = false;
    return;
  }
  std::vector<StoredJob> jobs = store_.jobs();
  std::ranges::stable_sort(jobs, std::less(), &StoredJob::last_received);
  for (const StoredJob& job : jobs) {
    if (job.last_received > now - kAtWork) break;
    if (!may_go(job)) continue;
    forget(job, ForgottenFor::room, "more is stored than --keep-at-most says");
    if (store_.bytes_in_use() <= settings_.bytes) return;
  }
  if (!has_told_of_no_room_)
    say(LogLevel::warning, "no-room",
        "more is stored than --keep-at-most says, and all of it is of jobs that something came of "
        "within an hour");
  has_told_of_no_room_ = true;
}

}  // namespace faultline
