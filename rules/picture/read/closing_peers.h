// Peers that closed a connection which others still used, as these name them.
#pragma once

#include <set>
#include <string>

#include "rules/knowledge/signatures.h"

namespace faultline {

struct View;

// Of a connection that was, not of one that could not be made.
bool is_of_a_lost_peer(const MessageSignature& signature);

// Hosts by their short names, less those that lost a peer themselves.
std::set<std::string> hosts_that_closed(const View& view);

}  // namespace faultline
