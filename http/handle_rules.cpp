// GET /api/v1/rules
#include <boost/json.hpp>

#include "http/handlers.h"
#include "http/page.h"
#include "http/problem.h"
#include "rules/knowledge/signature_json.h"

namespace faultline {
namespace json = boost::json;

Response list_rules(const Request& request, Services& services) {
  const Result<PageRequest> page = page_request(request.query, 1000);
  if (!page) return problem_response(page.error());
  const Result<std::uint64_t> after = page->after_number();
  if (!after) return problem_response(after.error());
  const std::string cause = request.query.text("class").value_or("");
  const std::shared_ptr<const Catalog> catalog = services.jobs.catalog().get();
  const auto all = catalog->signatures->all();
  json::array rows;
  std::size_t number = *after;
  for (; number < all.size() && rows.size() < page->limit; ++number)
    if (cause.empty() || all[number].cause == cause) rows.push_back(to_json(all[number]));
  return page_of("rules", std::move(rows), number < all.size() ? std::to_string(number) : "");
}

}  // namespace faultline
