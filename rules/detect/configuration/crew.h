// Crews: the processes that work together and should therefore be set up alike. What all detectors
// of configuration share.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/state/setup.h"

namespace faultline {

// One process of a crew, with what it was as a rank of the crew's communicator.
struct CrewMate {
  const ProcessSetup* process = nullptr;
  const CommunicatorSetup* communicator = nullptr;  // nullptr: it told nothing of it
  bool started = false;                             // Init COMPLETE, and no abort
};

struct Crew {
  std::vector<CrewMate> mates;
  std::map<std::string, std::vector<std::size_t>> by_host;  // only mates whose host is known
  std::size_t unheard = 0;                                  // of the communicator's ranks
  bool several_hosts() const { return by_host.size() > 1; }
};

// The largest communicators of the attempt that share no process: usually one, the world. A process
// that only joins smaller ones beside it has another task, and may be set up for that.
std::vector<Crew> crews_of(const View& view);

// Whether all of the host's ranks tell how they are connected, and as many as on other hosts: of a
// host whose logs are not all there, nobody knows what the others would have said.
bool tells_connections(const Crew& crew, const std::string& host);

// A place in a crew: indices into its mates.
using Mates = std::vector<std::size_t>;

// Units (processes, or whole hosts) divided by what they say.
struct Division {
  std::string reference;        // what most say
  Mates odd;                    // those who say otherwise; where nobody is most, all
  std::optional<Ground> doubt;  // whether those who say otherwise are wrong
  bool everybody = false;       // no majority: `odd` is all of them
};

// `said` is what each unit says, `mates` those of the crew that it is.
struct Unit {
  std::string said;
  Mates mates;
};
// `unheard`: as many more there are, of whom nobody knows what they would have said. Two camps of
// nearly the same size have no majority where these could tip the balance.
Division divide(const std::vector<Unit>& units, std::size_t unheard = 0);

// The hosts that these are, where they are all of their hosts' mates; else ranks, too.
Subject subject_of(const View& view, const Crew& crew, const Mates& mates);
Subject hosts_of(const Crew& crew, const Mates& mates);

// "gpu-node-3", "rank 27 on gpu-node-3", "5 hosts", "ranks 3 and 5"
std::string people_of(const View& view, const Crew& crew, const Mates& mates);

// Adds the line, unless there is none or it is of another attempt.
void add_setting_line(const View& view, const Setup::Said* said, Suspicion& suspicion);

// What is wrong with the configuration slows a job, or stops its start; it is not what a hang in
// mid-run comes from.
Suspicion configuration_fault(Cause cause, Severity severity, Sureness sure);

}  // namespace faultline
