// Jobs that run, but not as well as they could.
#include <array>

#include "simulate/scenarios/families.h"

namespace faultline::simulation {
namespace {

template <class Change>
void change_host(Injection& it, Change&& change) {
  const int host = it.any_host();
  for (const int rank : it.ranks_of_host(host)) change(it.plan.own_setup(rank));
  it.blame_host(host);
}

}  // namespace

void network_fallback(Injection& it) {
  change_host(it, [](Setup& setup) { setup.rdma = setup.rdma_seen = false; });
}

// All hosts have InfiniBand, and none uses it.
void network_fallback_all(Injection& it) {
  it.plan.common.rdma = false;
  it.involve_everybody();
}

void gdr_disabled(Injection& it) {
  change_host(it, [](Setup& setup) { setup.gdr = false; });
}

void p2p_disabled(Injection& it) {
  change_host(it, [](Setup& setup) { setup.p2p = false; });
}

void environment_mismatch(Injection& it) {
  struct Choice {
    const char* name;
    const char* usual;
    const char* other;
  };
  // NCCL logs numbers with a dot at the end, text without.
  constexpr std::array kChoices{Choice{"NCCL_ALGO", "Ring", "Tree"},
                                Choice{"NCCL_PROTO", "Simple", "LL128"},
                                Choice{"NCCL_BUFFSIZE", "8388608.", "4194304."}};
  const Choice& choice = kChoices[it.chance.below(kChoices.size())];
  it.plan.common.environment = {{choice.name, choice.usual}};
  if (it.twin) return;
  change_host(it, [&](Setup& setup) { setup.environment = {{choice.name, choice.other}}; });
  if (it.cluster.hosts() == 2) it.involve_everybody();  // nothing shows which of the two differs
}

void hca_set_differs(Injection& it) {
  if (it.cluster.nics_per_host() < 2) return;
  change_host(it, [](Setup& setup) { --setup.nics; });
}

}  // namespace faultline::simulation
