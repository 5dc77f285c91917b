// A server, usually with the shim in its process, on a folder that an earlier server may have used.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "faults/steering.h"

namespace faultline::faults {

struct Programs {
  std::filesystem::path server;
  std::filesystem::path shim;         // empty: servers run without it
  std::filesystem::path before_shim;  // a library that must be loaded first; empty: none
};

class Server {
 public:
  // Data goes below folder/data; the journal, if one is kept, to folder/journal. Does not start
  // yet.
  Server(Programs programs, std::filesystem::path folder, const Steering& steering, bool journaled);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path database() const { return data() / "faultline.db"; }
  std::filesystem::path journal() const { return folder_ / "journal"; }
  int port() const { return port_; }
  pid_t process() const { return process_; }

  // The server's own signatures, read at the start and again by reload().
  std::filesystem::path rules() const { return folder_ / "rules"; }

  // From the next start on, how much of the disk is to stay free. By default nothing is.
  void keep_free(std::string size) { min_free_ = std::move(size); }

  // True once it listens and has read back what is stored. False: it has ended instead, or is not
  // ready in time; messages() says why.
  bool start(std::chrono::milliseconds patience = std::chrono::seconds{30});

  void kill_now();
  // Sends SIGTERM and waits. Returns the exit status; -1: a signal ended it, or it had to be
  // killed.
  int stop();
  // Sends SIGSTOP. True: the process has stopped.
  bool freeze();
  void thaw();
  // Sends SIGHUP: the server reads its rules again.
  void reload();
  // False: it has ended by itself.
  bool lives();
  bool ends_within(std::chrono::milliseconds time);
  void limit(int resource, rlim_t soft);
  void lift_limit(int resource);
  std::size_t address_space_bytes() const;

  std::string messages() const;

 private:
  void spawn();
  using Time = std::chrono::steady_clock::time_point;
  bool await_port(Time end);
  bool await_readiness(Time end);

  std::string min_free_ = "0";
  Programs programs_;
  std::filesystem::path folder_;
  std::filesystem::path control_file_;
  bool journaled_;
  pid_t process_ = -1;
  int port_ = 0;
};

}  // namespace faultline::faults
