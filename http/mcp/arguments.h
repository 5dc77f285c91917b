// The arguments of a tool, checked against the schema that the tool publishes.
#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <utility>
#include <vector>

#include "model/result.h"

namespace faultline {

using ToolArguments = std::vector<std::pair<std::string, std::string>>;

// Each argument as the API takes it in a query, with the defaults of the schema, in its order. null
// is the same as no argument. An error names what is wrong.
Result<ToolArguments> checked_arguments(const boost::json::object& schema,
                                        const boost::json::object& given);

}  // namespace faultline
