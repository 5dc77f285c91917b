// All ports of one kind that tools report, counted once. So each port can be compared with the
// ports beside it, and with those of its name on other hosts, without going through them all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/detect/parts/facts.h"

namespace faultline {

// The latest value of one quantity of a port.
struct LastSaid {
  std::string value;
  const LineRef* line = nullptr;
  bool known() const { return line != nullptr; }
};

constexpr std::string_view kDisabled = "disabled";

struct PortState {
  const NetworkPort* port = nullptr;
  std::string state;     // active, initialize, armed, down; empty: not told
  std::string physical;  // polling, disabled, …
  std::string said;      // the tool's words for both
  double rate = 0;       // Gbit/s; 0: not told
  std::string type;      // of the adapter
  bool is_ethernet = false;
  const LineRef* line = nullptr;
  const LineRef* rate_line = nullptr;
  LastSaid could_be;

  bool is_active() const { return state == "active"; }
};

struct UpAndDown {
  std::size_t up = 0;
  std::size_t down = 0;
};

// The rate of the port of this name on most other hosts of the job.
struct Elsewhere {
  double rate = 0;  // 0: not more than here
  std::size_t hosts = 0;
};

// How many ports run at which rate.
class RateCounts {
 public:
  // The rate of at least three in four of them.
  struct Most {
    double rate = 0;  // 0: there is no such rate
    std::size_t count = 0;

    double if_higher(double than, std::size_t least) const;
  };

  void add(double rate);
  Most most_without(const RateCounts& apart) const;

 private:
  std::map<double, std::size_t> counts_;
  std::set<std::pair<std::size_t, double>, std::greater<>> by_count_;
  std::size_t all_ = 0;
};

class PortFleet {
 public:
  // The facts must outlive it.
  PortFleet(const PartFacts& facts, const std::vector<PortState>& states, std::string_view kind);

  // Whether a rank listed the NIC when it started, or used the interface: then it was up.
  bool is_used_by_job(const NetworkPort& port) const;
  bool any_up_on(const std::string& host) const { return hosts_up_.contains(host); }
  // Whether a port of this one's type and layer on its host is down and not switched off.
  bool any_tries_beside(const PortState& state) const {
    return trying_.contains({state.port->host, state.type, state.is_ethernet});
  }
  // Other ports of this one's type on its host.
  UpAndDown beside(const PortState& state) const;
  // Ports of this one's name on other hosts of the job.
  UpAndDown elsewhere(const PortState& state) const;

  // The rate of most others that should be as fast, if it is higher; else 0.
  double rate_of_siblings(const PortState& state) const;
  Elsewhere rate_elsewhere(const PortState& state) const;

 private:
  struct StatesByHost {
    UpAndDown all;
    std::map<std::string, UpAndDown> on;
  };
  struct RatesByHost {
    RateCounts all;
    std::map<std::string, RateCounts> on;
    std::map<std::string, RateCounts::Most> elsewhere;  // than on this host

    void add(const std::string& host, double rate);
    void look_elsewhere();
    RateCounts::Most most_elsewhere(const std::string& host) const;
  };
  using Pair = std::pair<std::string, std::string>;

  std::string name_of(const NetworkPort& port) const;
  void list_nics();
  void count_state(const PortState& state, bool of_job);
  void count_rate(const PortState& state, bool of_job);

  const PartFacts& facts_;
  std::string kind_;
  std::map<Pair, std::set<std::string>> listed_;  // ports by host and device; "": any
  std::set<std::string> hosts_up_;
  std::set<std::tuple<std::string, std::string, bool>> trying_;  // host, type, whether Ethernet
  std::map<Pair, UpAndDown> beside_;                             // by host and type
  std::map<std::string, StatesByHost> of_name_;                  // on hosts of the job
  std::map<std::string, RateCounts> of_type_;
  std::map<std::string, RatesByHost> of_device_;  // of no known type
  std::map<Pair, RatesByHost> of_name_and_type_;  // on hosts of the job
};

}  // namespace faultline
