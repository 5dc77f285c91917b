// The source of a body whose sender named none: "host/address". Several such senders may be at it
// at once, each in a source of its own ("host/address#2"), so a file that is sent again has to be
// looked for in all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "service/open_sources.h"
#include "store/store.h"

namespace faultline {

// Whether anything is held under that name or a numbered one.
bool has_default_source(Store& store, const std::string& job, const std::string& name);

// The lease on the one that holds a body with this beginning, if nobody is writing to it; else on
// the first that nobody is writing to. `head`: the body's first kHeadBytes, or all of it.
std::shared_ptr<SourceLease> lease_default_source(OpenSources& open, Store& store,
                                                  const std::string& job, const std::string& name,
                                                  std::string_view head,
                                                  std::function<void()> on_loss);

}  // namespace faultline
