#include "http/message.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "model/json.h"

namespace faultline {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view next_item(std::string_view& list, char separator) {
  const std::string_view item = list.substr(0, list.find(separator));
  list.remove_prefix(std::min(list.size(), item.size() + 1));
  return trimmed(item);
}

// How exactly a media range names a type: 3 type/sub, 2 type/*, 1 */*, 0 not at all.
int exactness(std::string_view range, std::string_view type) {
  if (equal_ignoring_case(range, type)) return 3;
  if (range == "*/*") return 1;
  const std::size_t slash = type.find('/');
  return range.size() == slash + 2 && range.back() == '*' &&
                 equal_ignoring_case(range.substr(0, slash + 1), type.substr(0, slash + 1))
             ? 2
             : 0;
}

// In thousandths; a weight that cannot be read counts as absent.
int weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = next_item(parameters, ';');
    if (parameter.size() < 3 || lower(parameter[0]) != 'q' || parameter[1] != '=') continue;
    const std::string_view number = parameter.substr(2);
    if (number[0] != '0') return 1000;
    int weight = 0;
    int unit = 100;
    for (std::size_t i = 2; i < number.size() && i < 5; ++i, unit /= 10)
      if (number[i] >= '0' && number[i] <= '9') weight += (number[i] - '0') * unit;
    return weight;
  }
  return 1000;
}

int preference(std::string_view accept, std::string_view type) {
  int best_exactness = 0;
  int weight = 0;
  while (!accept.empty()) {
    std::string_view range = next_item(accept, ',');
    const std::string_view name = next_item(range, ';');
    const int exact = exactness(name, type);
    if (exact <= best_exactness) continue;
    best_exactness = exact;
    weight = weight_of(range);
  }
  return weight;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Request::header(std::string_view name) const {
  for (const auto& [known, value] : headers)
    if (equal_ignoring_case(known, name)) return value;
  return {};
}

bool Request::has_header(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return equal_ignoring_case(header.first, name); });
}

const std::string& Request::path_value(std::string_view name) const {
  const auto found = std::find_if(path_values.begin(), path_values.end(),
                                  [&](const auto& value) { return value.first == name; });
  assert(found != path_values.end());  // a handler asks only for what its route's pattern names
  return found->second;
}

Response Response::json(const boost::json::value& value) {
  return {.content_type = "application/json", .body = compact(value) + "\n"};
}

Response Response::text(std::string body, std::string content_type) {
  return {.content_type = std::move(content_type), .body = std::move(body)};
}

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 422:
      return "Unprocessable Content";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

std::string_view best_offer(std::string_view accept, const std::vector<std::string_view>& offered) {
  if (trimmed(accept).empty()) return offered.front();
  std::string_view best;
  int best_weight = 0;
  for (const std::string_view type : offered) {
    const int weight = preference(accept, type);
    if (weight <= best_weight) continue;
    best = type;
    best_weight = weight;
  }
  return best;
}

}  // namespace faultline
