// Jobs of a server that may be started again, without its sockets.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "committed.h"
#include "rules/knowledge/live_catalog.h"
#include "service/clock.h"
#include "service/live_jobs.h"
#include "workshop.h"

namespace faultline {

// Takes long to read, and does not change.
inline LiveCatalog& known_faults() {
  static LiveCatalog catalog{load_catalog()};
  return catalog;
}

class ServedJobs : public testing::Test {
 protected:
  struct Running {
    Running(const std::filesystem::path& folder, LiveSettings settings)
        : store(folder / "f.db"), jobs(store, known_faults(), metrics, std::move(settings)) {}

    Store store;
    Metrics metrics;
    std::atomic<bool> stop{false};
    LiveJobs jobs;
  };

  void restart() {
    server.reset();
    settings.marks = workshop.folder() / "reading";
    server = std::make_unique<Running>(workshop.folder(), settings);
    server->jobs.start(server->stop);
  }

  // Sends the next lines of the job, each of another process; returns why they are not taken.
  std::string send(const std::string& job, int lines) {
    Commit commit{.source = {.job = job, .name = "kern.log", .host = "n7"},
                  .received = utc_now() - std::chrono::hours(1)};
    std::uint64_t sent = sent_[job];
    commit.batch.from_offset = commit.fingerprint.from_offset = sent;
    for (int i = 0; i < lines; ++i, ++sent) {
      commit.batch.speakers.push_back({.host = "n" + std::to_string(sent)});
      commit.batch.events.push_back({.order = static_cast<std::uint32_t>(i),
                                     .speaker = static_cast<std::uint32_t>(i),
                                     .line = sent + 1,
                                     .fact = GpuXid{.gpu = "0000:3b:00.0", .code = 79},
                                     .text = "NVRM: Xid (PCI:0000:3b:00): 79"});
    }
    commit.batch.lines = commit.batch.recognized = static_cast<std::uint64_t>(lines);
    commit.batch.to_offset = commit.position.offset = commit.fingerprint.to_offset = sent;
    const std::exception_ptr said = committed(server->jobs, std::move(commit));
    const auto stored = server->store.source(job, "kern.log");
    sent_[job] = stored ? stored->position.offset : 0;
    try {
      if (said) std::rethrow_exception(said);
    } catch (const std::exception& failure) {
      return failure.what();
    }
    return "";
  }

  Workshop workshop;
  LiveSettings settings;
  std::unique_ptr<Running> server;

 private:
  std::map<std::string, std::uint64_t> sent_;
};

}  // namespace faultline
