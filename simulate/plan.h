// How an attempt of a job differs from a healthy one.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulate/call.h"
#include "simulate/host_log.h"
#include "simulate/version.h"

namespace faultline::simulation {

enum class Thread { application, init, connect, service, uds, progress, async_event, destroy };

// Something that a process prints besides its calls.
struct Words {
  Thread thread = Thread::application;
  bool warn = false;
  std::string place;     // WARN: transport/net_ib.cc:2458
  std::string function;  // WARN of 2.30.7 and later: ncclIbTest
  std::string message;
  std::chrono::milliseconds after{0};  // after the line before
};

// Changes a step of one rank's program: `calls` replace `removed` calls from `place` on.
struct Edit {
  Place place;
  int removed = 1;
  std::vector<Call> calls;
};

// How a process is set up.
struct Setup {
  const NcclVersion* version = nullptr;
  std::vector<std::pair<std::string, std::string>> environment;  // variables that NCCL logs as text
  bool rdma = true;                                              // NET/IB, else NET/Socket
  bool rdma_seen = true;  // devices are listed although they are not used
  int nics = 0;           // a number below the host's: the last NICs are missing
  bool gdr = true;
  bool p2p = true;
  bool unused_port = false;  // one more device is listed, which no rank uses
};

enum class InitStop {
  none,
  absent,        // the process never starts
  before_start,  // prints its network, then nothing
  in_topology,   // stops before it looks at its machine
  waiting,       // waits for a rank that does not come: as far as a rank gets alone
  in_exchange,   // has looked at its machine and waits for the others
  connecting,    // knows all ranks and sets up channels
};

struct RankPlan {
  std::vector<Edit> edits;        // in the order of their places
  std::vector<Words> words;       // what `speak` calls print, by Call::root
  std::vector<Words> at_init;     // when it stops in init: its last words there
  std::vector<Words> last_words;  // when it stands still
  InitStop init = InitStop::none;
  int init_slot = 0;                // the slot in which it stops
  bool connects = true;             // false: the communicator of init_slot is never connected
  std::optional<int> cuda_device;   // instead of its own
  bool killed = false;              // what stdio still held is lost
  bool aborts = false;              // the framework takes its communicators down
  bool kernel_hangs = false;        // its GPU does not reach the call that it stands in
  std::vector<std::string> prints;  // what its program prints when training begins
  std::vector<std::string> raises;  // the traceback with which its program ends where it halts
  std::string cuda_error;           // the error that its watchdog meets
  Place first{0, 0};                // the log begins here
};

struct Plan {
  std::map<int, RankPlan> ranks;
  Setup common;
  std::map<int, Setup> setups;  // for ranks that differ from `common`
  HostLogs hosts;
  std::map<std::string, std::string> files;  // output of tools: HOST/ibstat.txt, …
  bool destroys = true;                      // a job that finishes destroys its communicators
  bool all_to_all = false;                   // mixture of experts
  bool peers_notice = false;  // the end of a process breaks the connections of all others
  int replayed_steps = 0;     // the last steps ran as CUDA graphs and printed nothing

  const Setup& setup_of(int rank) const {
    const auto own = setups.find(rank);
    return own == setups.end() ? common : own->second;
  }
  // For a rank that differs from the others.
  Setup& own_setup(int rank) { return setups.try_emplace(rank, common).first->second; }
};

}  // namespace faultline::simulation
