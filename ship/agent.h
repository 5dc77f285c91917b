// ShipAgent: follows logs and ships them to a server.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ship/log_reader.h"
#include "ship/sender.h"
#include "ship/spool.h"
#include "ship/state_file.h"
#include "ship/watch.h"

namespace faultline {

struct ShipSettings {
  ShipServer server;
  std::vector<std::string> paths;  // files, folders, patterns
  bool from_stdin = false;
  bool kernel = false;
  std::string kernel_device = "/dev/kmsg";
  bool follow = false;
  bool final = false;  // nothing will follow what is sent
  std::string job;     // empty: of the process that writes a log, or the server's default
  std::string host;
  int rank = -1;
  std::string source;  // of stdin
  std::filesystem::path state;
  SpoolLimits spool;
  std::chrono::seconds since{};      // files that did not change for longer are not begun
  std::chrono::seconds retry_for{};  // without following: how long a server may be away
  std::string proc = "/proc";
};

class ShipAgent {
 public:
  // Throws std::runtime_error with one line if the state cannot be kept.
  explicit ShipAgent(ShipSettings settings);
  ~ShipAgent();

  // Until stop() is called or, without following, all is sent. True: all that was read is sent.
  bool run();
  void stop();  // async-signal-safe

 private:
  using Clock = std::chrono::steady_clock;

  void find();
  void begin_logs(const std::set<std::string>& logs);
  std::unique_ptr<LogReader> open_reader(ReaderState saved, std::uint64_t start);
  LogTarget target_for(const std::string& path, bool& wait_for_holder);
  void begin_streams();
  void hear();
  void heard(const ServerNews& news);
  bool take_from(LogReader& reader);
  void save(bool now);
  bool all_sent() const;
  bool finish();

  const ShipSettings settings_;
  OpenDescriptor lock_;
  Spool spool_;
  Sender sender_;
  FolderWatch watch_;
  std::atomic<bool> stopped_ = false;
  std::map<std::string, ReaderState> saved_;                   // of logs that are not open, by path
  std::map<std::string, std::unique_ptr<LogReader>> readers_;  // by path
  std::set<std::string> restored_;  // paths whose stream is known from an earlier run
  std::map<std::string, Clock::time_point> seen_;  // logs that wait for a process to hold them
  Clock::time_point found_at_{};
  Clock::time_point saved_at_{};
  std::uint64_t thrown_away_ = 0;  // bytes of stdin
};

}  // namespace faultline
