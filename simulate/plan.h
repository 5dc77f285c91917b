// How an attempt of a job departs from a healthy one.
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

// Something a process says besides its calls.
struct Words {
  Thread thread = Thread::application;
  bool warn = false;
  std::string place;     // WARN: transport/net_ib.cc:2458
  std::string function;  // WARN of 2.30.7 and later: ncclIbTest
  std::string message;
  std::chrono::milliseconds after{0};  // what came before
};

// Changes a step of one rank's program: what stands at `place` there is replaced by `calls`.
struct Edit {
  Place place;
  int removed = 1;
  std::vector<Call> calls;
};

// How a process is set up.
struct Setup {
  const NcclVersion* version = nullptr;
  std::vector<std::pair<std::string, std::string>> environment;  // of what NCCL logs as text
  bool rdma = true;                                              // NET/IB, else NET/Socket
  bool rdma_seen = true;  // devices are listed although they are not used
  int nics = 0;           // of the host; a smaller number: the last are missing
  bool gdr = true;
  bool p2p = true;
  bool unused_port = false;  // one more device is listed and nobody uses it
};

enum class InitStop {
  none,
  absent,        // the process never starts
  before_start,  // says its network, then nothing
  in_topology,   // the others have looked at their machine and wait
  waiting,       // for somebody who does not come: as far as a rank gets alone
  in_exchange,   // looked at its machine and waits for the others
  connecting,    // knows everybody and sets up channels
};

struct RankPlan {
  std::vector<Edit> edits;        // in the order of their places
  std::vector<Words> words;       // what `speak` calls say, by Call::root
  std::vector<Words> at_init;     // when it stops in init: its last words there
  std::vector<Words> last_words;  // when it stands still
  InitStop init = InitStop::none;
  int init_slot = 0;                // where that happens
  bool connects = true;             // false: the communicator of init_slot is never connected
  std::optional<int> cuda_device;   // instead of its own
  bool killed = false;              // what stdio still held is lost
  bool aborts = false;              // the framework takes its communicators down
  bool kernel_hangs = false;        // its GPU does not come to the call that it stands in
  std::vector<std::string> prints;  // what its program says when training begins
  std::vector<std::string> raises;  // the traceback with which its program ends where it halts
  std::string cuda_error;           // that its watchdog meets
  Place first{0, 0};                // the log begins here; before, nothing was logged
};

struct Plan {
  std::map<int, RankPlan> ranks;
  Setup common;
  std::map<int, Setup> setups;  // of ranks that are not set up like all others
  HostLogs hosts;
  std::map<std::string, std::string> files;  // what tools said: HOST/ibstat.txt, …
  bool destroys = true;                      // a job that comes to its end says so
  bool all_to_all = false;                   // mixture of experts
  bool peers_notice = false;                 // a process's end breaks the connections of all others
  int replayed_steps = 0;  // the last steps ran as CUDA graphs and printed nothing

  const Setup& setup_of(int rank) const {
    const auto own = setups.find(rank);
    return own == setups.end() ? common : own->second;
  }
  // For a rank that is to differ from the others.
  Setup& own_setup(int rank) { return setups.try_emplace(rank, common).first->second; }
};

}  // namespace faultline::simulation
