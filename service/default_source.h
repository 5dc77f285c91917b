// The source of a body whose sender named none. Its name, "host/address" or what a form calls the
// file, says little: one sender posts many files under it, and several may be at it at once. So
// what the body holds tells whether it is sent again, goes on with a source, or is a new one
// ("host/address#2").
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "service/live_jobs.h"
#include "service/open_sources.h"
#include "store/store.h"

namespace faultline {

// Of a body, so much tells which source it is of.
inline constexpr std::size_t kBeginningBytes = std::size_t{4} << 10;

// Whether anything is held under that name or a numbered one.
bool has_default_source(Store& store, const std::string& job, const std::string& name);

// A dump is known again only as a whole.
bool is_known_as_a_whole(std::string_view beginning);

// `beginning`: the body's first kBeginningBytes, or all of it; of what is known only as a whole,
// as much of it as there is room for.
std::shared_ptr<SourceLease> lease_default_source(LiveJobs& jobs, Store& store,
                                                  const std::string& job, const std::string& name,
                                                  std::string_view beginning,
                                                  std::function<void()> on_loss);

}  // namespace faultline
