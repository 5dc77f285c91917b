// Crews: the processes that work together and should therefore be set up alike. Shared by all
// detectors of configuration.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/state/setup.h"

namespace faultline {

// One process of a crew, with what it was as a rank of the crew's communicator.
struct CrewMate {
  const ProcessSetup* process = nullptr;
  const CommunicatorSetup* communicator = nullptr;  // nullptr: its lines say nothing about it
  bool started = false;                             // Init COMPLETE, and no abort
};

// All processes of the job, also those of no crew.
using ProcessesByHost = std::map<std::string_view, std::vector<const ProcessSetup*>>;

struct Crew {
  std::vector<CrewMate> mates;
  std::map<std::string, std::vector<std::size_t>> by_host;  // only mates whose host is known
  std::size_t unheard = 0;                                  // of the communicator's ranks
  std::size_t most_on_a_host = 0;                           // mates
  std::shared_ptr<const ProcessesByHost> all_processes;     // shared by all crews
  bool several_hosts() const { return by_host.size() > 1; }
};

// The largest communicators of the attempt that share no process: usually one, the world. A process
// that only joins smaller communicators has another task, and may be set up for that.
std::vector<Crew> crews_of(const View& view);

// Whether all ranks of the host say how they are connected, and no host has more ranks here. If
// logs of a host are missing, nobody knows what its other ranks would have said.
bool tells_connections(const Crew& crew, const std::string& host);

// A place in a crew: indices into its mates.
using Mates = std::vector<std::size_t>;

// Units (processes, or whole hosts) divided by what they say.
struct Division {
  std::string reference;        // what most units say
  Mates odd;                    // units that say otherwise; all, if there is no majority
  std::optional<Ground> doubt;  // a doubt whether the odd ones are wrong
  bool everybody = false;       // no majority: `odd` is all of them
};

// `said`: what the unit says. `mates`: the mates of the crew that it consists of.
struct Unit {
  std::string said;
  Mates mates;
};
// `unheard`: how many more units there are whose answer is not known. If these could tip the
// balance between two camps of nearly the same size, there is no majority.
Division divide(const std::vector<Unit>& units, std::size_t unheard = 0);

// The hosts and ranks of these mates; hosts_of: only their hosts.
Subject subject_of(const View& view, const Crew& crew, const Mates& mates);
Subject hosts_of(const Crew& crew, const Mates& mates);

// "gpu-node-3", "rank 27 on gpu-node-3", "5 hosts", "ranks 3 and 5"
std::string people_of(const View& view, const Crew& crew, const Mates& mates);

// Adds the line, unless there is none or it is of another attempt.
void add_setting_line(const View& view, const Setup::Said* said, Suspicion& suspicion);

// A wrong configuration slows a job, or stops its start; it is not the cause of a hang in mid-run.
Suspicion configuration_fault(Cause cause, Severity severity, Sureness sure);

}  // namespace faultline
