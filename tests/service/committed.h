// Commits and waits for the result.
#pragma once

#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "service/live_jobs.h"

namespace faultline {

// Waits until the commit is part of its job's state: that is later than it is stored. Returns why
// it is not.
inline std::exception_ptr committed(LiveJobs& jobs, Commit commit) {
  const auto said = std::make_shared<std::promise<std::exception_ptr>>();
  jobs.commit(std::move(commit), [said](std::exception_ptr failure) { said->set_value(failure); });
  return said->get_future().get();
}

}  // namespace faultline
