// What a scenario works with: the job without its fault, and the plan and truth that it writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simulate/chance.h"
#include "simulate/job.h"
#include "simulate/truth.h"

namespace faultline::simulation {

class Injection {
 public:
  // `twin`: the job is to have no fault.
  Injection(const Job& its_job, int its_attempt, bool its_twin);

  const Job& job;
  int attempt;
  bool twin;
  std::string_view scenario;  // the scenario that is being injected
  Twin kind_of_twin = Twin::usual;
  int spared_host = -1;  // never drawn: it has a fault already
  const NcclVersion& version;
  const Cluster& cluster;
  const Communicators& communicators;
  Program program;  // without a fault
  Chance chance;
  Plan plan;
  Truth truth;

  // Draws.
  int any_rank();
  int any_rank_but_first();
  int any_host();
  // A step well inside the run.
  int any_step();
  // A call for which `wanted` holds; call -1: there is none. In the last step only if there is no
  // other, since a fault shows in later calls.
  template <class Wanted>
  Place any_place(int rank, Wanted&& wanted) {
    const int first = any_step();
    const int last = program.steps() - 1;
    for (int i = 0; i <= last; ++i) {
      const int step = i < last ? (first + i) % last : last;
      if (const int at = program.find(rank, step, wanted); at >= 0) return {step, at};
    }
    return {-1, -1};
  }

  const Call& call_at(int rank, Place place) const {
    return program.written(rank, place.step)[static_cast<std::size_t>(place.call)];
  }

  // When a rank reaches a place, if nothing holds it up.
  Timestamp time_of(Place place) const;

  // Changes.
  RankPlan& of(int rank) { return plan.ranks[rank]; }
  void stop(int rank, Place before) { edit(rank, before, 0, {{.function = Function::halt}}); }
  void edit(int rank, Place at, int removed, std::vector<Call> calls);
  void say_at(int rank, Place at, Words words);

  // What the rank prints when it stands still.
  void last_words(int rank, std::vector<Words> words);
  void stop_in_init(int rank, InitStop stop, std::vector<Words> words = {});
  // The first communicator is never connected: the ranks `failing` print `words`, the others wait.
  void fail_to_connect(const std::vector<int>& failing, const std::vector<Words>& words);
  // All members of a communicator enter this call, none leaves it.
  void block(int communicator, Place at);
  // All ranks make this call before the one at `at`.
  void insert_everywhere(Place at, const Call& call);

  // The truth. blame_: a diagnosis must name this. involve_: it may name this.
  void blame_rank(int rank);
  // For a rank that never had a communicator: the rank, if this NCCL or wrapper prints it, else its
  // host.
  void blame_rank_without_communicator(int rank);
  void blame_host(int host);
  void blame_gpu(int rank);  // the GPU of a rank
  void blame_nic(int host, int nic);
  void blame_communicator(int rank, int slot);
  void involve_rank(int rank);  // with its host, GPU and NIC
  void involve_host(int host);  // with its ranks
  void involve_everybody();

  bool may_draw(int host) const;
  std::vector<int> ranks_of_host(int host) const;
  // The next rank in a communicator, or the first if it is the last.
  int next_in(int slot, int rank) const;
  // Two members of a communicator on different hosts: a rank and the next one; -1, -1: none.
  std::pair<int, int> distant_neighbours(int slot);
  const Seat& seat(int rank, int slot) const {
    return communicators.seats(rank)[static_cast<std::size_t>(slot)];
  }
  std::string peer_address(int rank) const;  // 10.0.0.12<51544>
};

}  // namespace faultline::simulation
