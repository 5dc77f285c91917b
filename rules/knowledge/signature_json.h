// A signature as the outside sees it: GET /api/v1/rules, faultline rules.
#pragma once

#include <boost/json/fwd.hpp>

#include "rules/knowledge/signatures.h"

namespace faultline {

boost::json::value to_json(const MessageSignature& signature);

}  // namespace faultline
