// The kernel logs of hosts, in the form in which somebody collected them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"
#include "simulate/cluster.h"
#include "simulate/options.h"

namespace faultline::simulation {

enum class Framing {
  uptime,   // dmesg
  wall,     // dmesg -T
  iso,      // dmesg --time-format iso
  journal,  // journalctl -k -o short-iso
  rfc5424,  // rsyslog's wire format
  syslog,   // /var/log/kern.log
};

// The same for all hosts of a job: the form that matches the wrapper of its other logs, or a random
// one.
Framing framing_of(const Options& options);

class HostLogs {
 public:
  // A host, of the cluster or beside it, boots and prints the lines of a boot.
  void boot(const Cluster& cluster, const std::string& host, Timestamp when);
  bool started(const std::string& host) const { return hosts_.contains(host); }
  // The last boot.
  Timestamp booted(const std::string& host) const { return hosts_.at(host).boots.back(); }

  void say(const std::string& host, Timestamp when, std::string text);

  // Only journals hold more than one boot.
  void keep_in_journal() { journal_ = true; }

  // By file name: gpu-node-1/dmesg.txt, …
  std::map<std::string, std::string> files(const Options& options) const;

 private:
  struct Line {
    Timestamp when;
    std::string text;
    bool of_boot = false;
  };
  struct Host {
    std::vector<Timestamp> boots;
    std::vector<Line> lines;
  };

  std::map<std::string, Host> hosts_;
  bool journal_ = false;
};

}  // namespace faultline::simulation
