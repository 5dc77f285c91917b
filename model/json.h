// JSON forms of the values the outside sees, and of facts for the store.
#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

#include "model/fact.h"
#include "model/finding.h"
#include "model/result.h"
#include "model/views.h"

namespace faultline {

boost::json::value to_json(const Evidence& evidence);
boost::json::value to_json(const Finding& finding);
boost::json::value to_json(const Diagnosis& diagnosis);
boost::json::value to_json(const Explanation& explanation);
boost::json::value to_json(const JobOverview& job);
boost::json::value to_json(const JobDetail& job);
boost::json::value to_json(const RankView& rank);

// Reads a finding that to_json wrote; the store keeps findings in this form.
Result<Finding> finding_from_json(std::string_view text);

// {"rank":3,…}; the kind is stored beside it.
std::string fact_to_json(const Fact& fact);
Result<Fact> fact_from_json(std::string_view kind, std::string_view text);

// One line of JSON, or indented for people.
std::string compact(const boost::json::value& value);
std::string pretty(const boost::json::value& value);

}  // namespace faultline
