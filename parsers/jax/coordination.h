// JAX's coordination service: which tasks did not come to a barrier, and which fell silent. A task
// is a process of the job; its number is the rank.
//
// Told as a DesyncEntry: what is "not_at_barrier", of the barrier that they pass as they connect
// "not_at_start", or "silent"; with "some_" in front where the service lists only a part of them.
// The operation is the barrier.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "parsers/document.h"

namespace faultline {

bool begins_jax_tasks(std::string_view text);
std::unique_ptr<Document> make_jax_tasks();

// A key that a task should have set.
bool parse_jax_key(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
