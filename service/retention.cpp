#include "service/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "alerts/routing.h"
#include "logging/log.h"
#include "model/independent_steps.h"

namespace faultline {
namespace {

constexpr std::chrono::seconds kBetween{60};
// A job of which something came so lately is running, and is not deleted to make room.
constexpr std::chrono::hours kAtWork{1};

// The first table that matches the job and sets `limit`; null if none does.
template <class Limit>
const KeptJobs* own_of(const RetentionSettings& settings, std::string_view job, Limit limit) {
  const auto own = std::ranges::find_if(settings.of_some, [&](const KeptJobs& some) {
    return (some.*limit).has_value() && matches(some.jobs, job);
  });
  return own == settings.of_some.end() ? nullptr : &*own;
}

// Looks more often if a time is short, so that settings can be tried out.
std::chrono::seconds between(const RetentionSettings& settings) {
  std::chrono::seconds least = kBetween;
  const auto take = [&](std::chrono::seconds age) {
    if (age.count() > 0) least = std::min(least, age);
  };
  take(settings.jobs);
  take(settings.findings);
  for (const KeptJobs& some : settings.of_some) take(some.age.value_or(settings.jobs));
  return least;
}

}  // namespace

void Retention::set(RetentionSettings settings) {
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
  next_ = {};
}

void Retention::apply(SteadyTime now) {
  RetentionSettings settings;
  {
    const std::lock_guard lock(mutex_);
    if (now < next_) return;
    settings = settings_;
    next_ = now + between(settings);
  }
  const Timestamp today = utc_now();
  IndependentSteps steps;
  steps.run([&] { forget_old_jobs(settings, today); });
  steps.run([&] { drop_old_lines(settings); });
  if (settings.bytes > 0) steps.run([&] { forget_jobs_for_room(settings, today); });
  if (settings.findings.count() > 0)
    steps.run([&] {
      metrics_.count_forgotten_findings(store_.delete_findings_ended(today - settings.findings));
    });
  steps.end();
}

bool Retention::may_go(const StoredJob& job) const {
  return !jobs_.is_stopping() && jobs_.open_sources().open(job.name).empty();
}

// Keeps the job if something came of it since `job` was read.
void Retention::forget(const StoredJob& job, ForgottenFor why, std::string_view said) {
  if (!jobs_.forget(job.name, job.last_received)) return;
  metrics_.count_forgotten_job(why);
  say(LogLevel::info, "job-forgotten", "the job was deleted; its findings stay",
      {{"job", job.name}, {"why", said}});
}

void Retention::drop_old_lines(const RetentionSettings& settings) {
  std::uint64_t least = settings.lines;
  for (const KeptJobs& some : settings.of_some) least = std::min(least, some.lines.value_or(least));
  store_.drop_old_lines(least, [&](std::string_view job) {
    const KeptJobs* own = own_of(settings, job, &KeptJobs::lines);
    return own != nullptr ? *own->lines : settings.lines;
  });
}

void Retention::forget_old_jobs(const RetentionSettings& settings, Timestamp now) {
  IndependentSteps steps;
  for (const StoredJob& job : store_.jobs()) {
    const KeptJobs* own = own_of(settings, job.name, &KeptJobs::age);
    const std::chrono::seconds age = own ? *own->age : settings.jobs;
    if (age.count() == 0 || job.last_received >= now - age || !may_go(job)) continue;
    steps.run([&] {
      forget(job, ForgottenFor::age,
             own ? fmt::format("no log came for longer than [[keep]] of {} allows", own->jobs)
                 : "no log came for longer than --keep-jobs");
    });
  }
  steps.end();
}

// Deletes the oldest jobs first, but none that is running or is kept for ever.
void Retention::forget_jobs_for_room(const RetentionSettings& settings, Timestamp now) {
  if (store_.bytes_in_use() <= settings.bytes) {
    has_told_of_no_room_ = false;
    return;
  }
  std::vector<StoredJob> jobs = store_.jobs();
  std::ranges::stable_sort(jobs, std::less(), &StoredJob::last_received);
  IndependentSteps steps;
  for (const StoredJob& job : jobs) {
    if (job.last_received > now - kAtWork) break;
    const KeptJobs* own = own_of(settings, job.name, &KeptJobs::age);
    if ((own && own->age->count() == 0) || !may_go(job)) continue;
    steps.run(
        [&] { forget(job, ForgottenFor::room, "more is stored than --keep-at-most allows"); });
    if (store_.bytes_in_use() <= settings.bytes) return steps.end();
  }
  if (!has_told_of_no_room_)
    say(LogLevel::warning, "no-room",
        "more is stored than --keep-at-most allows, but every job got lines within the last hour "
        "or is kept for ever by a [[keep]] table");
  has_told_of_no_room_ = true;
  steps.end();
}

}  // namespace faultline
