// ShipAgent: follows logs and ships them to a server.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ship/collect/collector.h"
#include "ship/collect/wanted_loop.h"
#include "ship/log_holder.h"
#include "ship/log_reader.h"
#include "ship/own_reader.h"
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
  bool reads_here = false;  // sends what lines say, if the server reads them alike
  bool final = false;       // nothing will follow what is sent
  std::string job;          // empty: of the process that writes a log, or the server's default
  std::string host;
  int rank = -1;
  std::string source;  // of stdin
  std::filesystem::path state;
  SpoolLimits spool;
  std::chrono::seconds since{};      // files that did not change for longer are not begun
  std::chrono::seconds retry_for{};  // without following: how long a server may be away
  std::string proc = "/proc";
  CollectSettings collect = {};  // without kinds nothing is collected
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

  // A log and its reader. Only logs are found by path and labelled by their holders.
  struct Entry {
    std::unique_ptr<LogReader> reader;
    class FollowedLog* log = nullptr;
    class PipedLog* pipe = nullptr;
    bool asks_holders = false;  // its job or rank comes from the processes that write it
    LogMemory memory;           // of logs that are read here
    // Taken, and waits for what the server says of its reader.
    std::vector<StreamPiece> held;
  };

  void find();
  bool may_begin(const std::string& path) const;
  bool waits_for_its_log(const std::string& path);
  void go_on_with_parts(const std::set<std::string>& logs);
  bool had_parts_of_their_own(const std::string& path);
  void begin_log(const std::string& path);
  void go_on_with(const std::string& path, ReaderState saved, bool is_part = false);
  void open_log(const std::string& path, ReaderState saved, std::uint64_t start, bool only_current,
                bool keeps_to_open_files = false);
  void begin_streams();
  std::optional<LogTarget> target_for(const std::string& path, bool& asks_holders);
  const LogHolders& holders();
  bool belongs_to_others(const std::string& path, Entry& entry);
  void hear();
  void heard(const ServerNews& news);
  void heard_of_unread(const std::string& name, Entry* entry, const ServerNews& news);
  void heard_of_more(const std::string& path, Entry& entry, const ServerNews& news);
  bool take_round();
  bool take_from(const std::string& path, Entry& entry);
  bool waits_for_server(Entry& entry);
  void pass_on(Entry& entry);
  void pass_on_held(Entry& entry);
  SpooledPiece spooled(Entry& entry, const StreamPiece& piece);
  void put_taken();
  void tell_collector();
  bool put_collected(const CollectedText& evidence);
  void forget_gone();
  void save(bool now);
  bool all_sent() const;
  bool finish();

  const ShipSettings settings_;
  OpenDescriptor lock_;
  std::unique_ptr<const OwnReader> own_reader_;  // null: the server reads all
  Spool spool_;
  Sender sender_;
  // Both or none.
  std::unique_ptr<EvidenceCollector> collector_;
  std::unique_ptr<WantedLoop> wanted_loop_;
  FolderWatch watch_;
  std::atomic<bool> stopped_ = false;
  std::map<std::string, Entry> entries_;      // by path
  std::map<std::string, ReaderState> saved_;  // of logs that are not open, by path
  // Logs that wait for a process to hold them, or to be found a part of another.
  std::map<std::string, Clock::time_point> seen_;
  std::optional<LogHolders> holders_;
  Clock::time_point holders_at_{};
  Clock::time_point round_began_{};
  std::vector<SpooledPiece> taken_;  // that are not in the spool yet
  std::size_t taken_bytes_ = 0;
  std::size_t held_bytes_ = 0;  // of all entries
  bool must_save_ = false;
  bool took_much_ = false;
  bool said_too_many_ = false;
  std::size_t most_logs_ = 0;
  Clock::time_point found_at_{};
  Clock::time_point saved_at_{};
  Clock::time_point told_collector_at_{};
  std::uint64_t thrown_away_ = 0;  // bytes of stdin
};

}  // namespace faultline
