// /openapi.json: the router's table as OpenAPI 3.1.
#pragma once

#include <boost/json/value.hpp>

#include <span>
#include <string_view>

#include "http/router.h"

namespace faultline {

boost::json::value openapi_of(std::span<const Route> routes, std::string_view version);

}  // namespace faultline
