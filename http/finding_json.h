// A finding as it stands in the store: what it is, and what became of it.
#pragma once

#include <boost/json/fwd.hpp>

#include "store/store.h"

namespace faultline {

boost::json::value finding_json(const StoredFinding& stored);

}  // namespace faultline
