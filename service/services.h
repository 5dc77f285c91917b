// What handlers may use. Built once in app/serve.cpp, lowest first.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "alerts/delivery.h"
#include "service/change_signal.h"
#include "service/clock.h"
#include "service/live_jobs.h"
#include "service/metrics.h"
#include "store/store.h"

namespace faultline {

struct Services {
  Store& store;
  LiveJobs& jobs;
  Metrics& metrics;
  AlertDelivery& alerts;
  ChangeSignal& changes;    // of findings
  std::string default_job;  // for requests that name no job; empty: they must name one
  bool asks_for_tokens = false;
  std::string version;
  std::filesystem::path data;  // the folder that the store lies in
  Timestamp started = utc_now();
};

}  // namespace faultline
