// Lists come in pages: {"jobs":[...],"next_cursor":null}.
#pragma once

#include <boost/json/array.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"
#include "model/result.h"

namespace faultline {

struct PageRequest {
  std::size_t limit = 0;
  std::string after;  // what the cursor stands for; empty: the beginning

  Result<std::uint64_t> after_number() const;  // for lists with numbered rows; 0 at the beginning
};

// Reads limit and cursor.
Result<PageRequest> page_request(const QueryString& query, std::size_t default_limit);

// `last_seen`: where the next page goes on; empty: this is the last.
Response page_of(std::string_view name, boost::json::array rows, std::string_view last_seen);

Response no_such_job(std::string_view job);

}  // namespace faultline
