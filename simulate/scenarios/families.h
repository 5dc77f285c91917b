// The scenarios of every family; a file for each family.
#pragma once

#include "simulate/injection.h"

namespace faultline::simulation {

// traps.cpp
void healthy(Injection& it);

// stops.cpp
void rank_behind(Injection& it);

}  // namespace faultline::simulation
