// A finding as it stands in the store: what it is, and what became of it.
#pragma once

#include <boost/json/fwd.hpp>

#include "store/store.h"

namespace faultline {

boost::json::value json_of(const StoredFinding& stored);

}  // namespace faultline
