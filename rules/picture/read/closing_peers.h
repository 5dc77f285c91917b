// Peers that closed a connection while others still used it, as these name them.
#pragma once

#include <set>
#include <string>

#include "rules/knowledge/signatures.h"

namespace faultline {

struct View;

// True for a connection that existed and was lost, not for one that could not be made.
bool is_of_a_lost_peer(const MessageSignature& signature);

// Hosts by their short names, without those that lost a peer themselves.
std::set<std::string> hosts_that_closed(const View& view);

}  // namespace faultline
