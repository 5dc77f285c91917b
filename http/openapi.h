// /openapi.json: the router's table as OpenAPI 3.1.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <span>
#include <string_view>

#include "http/router.h"

namespace faultline {

// The schemas of all answers, by name.
const boost::json::object& openapi_schemas();

// `has_default_job`: of the server; then requests need not name a job.
boost::json::value openapi_of(std::span<const Route> routes, std::string_view version,
                              bool has_default_job);

}  // namespace faultline
