#include "http/page.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <charconv>

#include "http/problem.h"

namespace faultline {

Result<std::uint64_t> PageRequest::after_number() const {
  std::uint64_t number = 0;
  const char* end = after.data() + after.size();
  if (after.empty()) return number;
  const auto [stop, error] = std::from_chars(after.data(), end, number);
  if (error == std::errc{} && stop == end) return number;
  return Error{Error::Kind::invalid_input, "cursor is not of this list; pass its own next_cursor"};
}

Result<PageRequest> page_request(const QueryString& query, std::size_t default_limit) {
  PageRequest page;
  const auto limit = query.number("limit", 1, 1000);
  if (!limit) return limit.error();
  page.limit = static_cast<std::size_t>(limit->value_or(default_limit));
  if (const auto cursor = query.text("cursor")) {
    Result<std::string> after = last_seen_of(*cursor);
    if (!after) return after.error();
    page.after = std::move(*after);
  }
  return page;
}

Response page_of(std::string_view name, boost::json::array rows, std::string_view last_seen) {
  boost::json::object page{{name, std::move(rows)}, {"next_cursor", nullptr}};
  if (!last_seen.empty()) page["next_cursor"] = cursor_for(last_seen);
  return Response::json(page);
}

Response no_such_job(std::string_view job) {
  return problem_response(
      Error{Error::Kind::not_found,
            fmt::format("no job is named \"{}\"; /api/v1/jobs lists those there are",
                        printable_name(job))});
}

}  // namespace faultline
