// JAX's coordination service: which tasks did not reach a barrier, and which fell silent. A task is
// a process of the job; its number is the rank.
//
// The fact is a DesyncEntry. Its `what` is "silent", "not_at_barrier", or "not_at_start" for a
// barrier that tasks pass when they connect; it begins with "some_" if the service lists only a
// part of the tasks. Its operation is the barrier.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "parsers/document.h"

namespace faultline {

bool begins_jax_tasks(std::string_view text);
std::unique_ptr<Document> make_jax_tasks();

// The service waited in vain for a key that a task should have set.
bool parse_jax_key(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
