// /openapi.json: the router's table as OpenAPI 3.1.
#pragma once

#include <boost/json/value.hpp>

#include <span>
#include <string_view>

#include "http/router.h"

namespace faultline {

// Of a server that has a default job, or none.
boost::json::value openapi_of(std::span<const Route> routes, std::string_view version,
                              bool has_default_job);

}  // namespace faultline
