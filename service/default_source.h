// Picks the source of a body whose sender named none. The default name ("host/address", or the name
// of a file in a form) says little: one sender posts many files under it, some of them at once. So
// the content decides whether the body repeats a source, continues one, or is a new one
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

// How many bytes of a body decide which source it belongs to.
inline constexpr std::size_t kBeginningBytes = std::size_t{4} << 10;

// Whether the store holds a source with this name or a numbered one.
bool has_default_source(Store& store, const std::string& job, const std::string& name);

// Whether the body is a dump or a trace, which can be recognised only as a whole.
bool is_known_as_a_whole(std::string_view beginning);

// `beginning`: the first kBeginningBytes of the body, or all of it. Of a body that is known only as
// a whole: as much as there is room for.
std::shared_ptr<SourceLease> lease_default_source(LiveJobs& jobs, Store& store,
                                                  const std::string& job, const std::string& name,
                                                  std::string_view beginning,
                                                  std::function<void()> on_loss);

}  // namespace faultline
