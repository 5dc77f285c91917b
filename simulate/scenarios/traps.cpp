// Jobs that are well, whatever they look like.
#include "simulate/scenarios/families.h"

namespace faultline::simulation {

void healthy(Injection&) {}

}  // namespace faultline::simulation
