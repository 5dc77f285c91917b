#include "http/origin.h"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace faultline {
namespace {

// [::1] or [::1]:8686
bool is_ipv6_address(std::string_view host) {
  const std::size_t end = host.find(']');
  if (end == std::string_view::npos) return false;
  const std::string_view port = host.substr(end + 1);
  if (!port.empty() &&
      (port.front() != ':' || port.find_first_not_of("0123456789", 1) != std::string_view::npos))
    return false;
  boost::system::error_code no_address;
  boost::asio::ip::make_address_v6(std::string(host.substr(1, end - 1)), no_address);
  return !no_address;
}

}  // namespace

bool crosses_origins(const Request& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view origin = request.header("Origin");
  if (origin.empty()) return false;
  const std::size_t host = origin.find("://");
  if (host == std::string_view::npos) return true;  // "null": a page that hides where it is from
  // A request without TLS may have come through a proxy that speaks TLS.
  if (request.encrypted && !equal_ignoring_case(origin.substr(0, host), "https")) return true;
  origin.remove_prefix(host + 3);
  return !equal_ignoring_case(origin, request.header("Host"));
}

bool is_meant_for_us(const Request& request, const ServerNames& known) {
  std::string host(request.header("Host"));
  if (host.empty()) return true;  // HTTP/1.0, which browsers do not speak
  if (host.starts_with('[')) return is_ipv6_address(host);
  host.resize(std::min(host.find(':'), host.size()));
  if (host.ends_with('.')) host.pop_back();
  boost::system::error_code no_address;
  boost::asio::ip::make_address_v4(host, no_address);
  if (!no_address || equal_ignoring_case(host, "localhost")) return true;
  if (known.any_without_dot && host.find('.') == host.npos) return true;
  return std::ranges::any_of(
      known.names, [&](const std::string& name) { return equal_ignoring_case(host, name); });
}

}  // namespace faultline
