#include "client/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <cstdint>

namespace faultline {
namespace {

Error wrong(const std::string& what) { return {Error::Kind::invalid_input, what}; }

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// 2130706433, 0x7f.1, 127.1: some programs read these as an address, others as a name.
bool is_address_in_disguise(std::string_view host) {
  if (host.find(':') != host.npos) return false;  // IPv6
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string_view last = host.substr(host.rfind('.') + 1);
  const bool is_hex = last.starts_with("0x") || last.starts_with("0X");
  if (is_hex) last.remove_prefix(2);
  const bool is_number = last.find_first_not_of(is_hex ? "0123456789abcdefABCDEF" : "0123456789") ==
                             std::string_view::npos &&
                         (is_hex || !last.empty());
  boost::system::error_code no_address;
  boost::asio::ip::make_address_v4(std::string(host), no_address);
  return is_number && no_address;
}

}  // namespace

std::string Url::host_header() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  // Blanks and control characters would end the line of the request.
  if (std::ranges::any_of(text,
                          [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }))
    return wrong("must not contain blanks");
  if (text.starts_with("https://"))
    url.tls = true;
  else if (!text.starts_with("http://"))
    return wrong("must begin with http:// or https://");
  text.remove_prefix(url.tls ? 8 : 7);
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, end);
  std::string_view rest = text.substr(end);
  rest = rest.substr(0, rest.find('#'));
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  if (authority.find('@') != std::string_view::npos)
    return wrong("must not contain a user or password; put a bearer token into a file");
  std::size_t colon = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return wrong("has a bracket that is not closed");
    url.host = authority.substr(1, bracket - 1);
    colon = authority.find(':', bracket);
    if (std::min(colon, authority.size()) != bracket + 1)
      return wrong("has text between the host's bracket and the port");
  } else {
    url.host = authority.substr(0, colon);
    if (url.host.find(':') != std::string::npos)
      return wrong("has a host with a colon; put an IPv6 address in brackets");
  }
  if (url.host.find_first_of("[]") != std::string::npos)
    return wrong("has brackets in the wrong place");
  url.port = colon == std::string_view::npos ? (url.tls ? "443" : "80")
                                             : std::string(authority.substr(colon + 1));
  if (url.host.empty()) return wrong("names no host");
  if (is_address_in_disguise(url.host))
    return wrong("has an IPv4 address that is not of the form 10.0.0.7");
  if (!is_port(url.port)) return wrong("has a port that is not a number");
  return url;
}

std::string name_of_url(std::string_view text) {
  const Result<Url> url = parse_url(text);
  if (!url) return "?";
  std::string name = fmt::format("{}://{}", url->tls ? "https" : "http", url->host_header());
  if (url->target == "/") return name;
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("{}/#{:08x}", name, hash);
}

}  // namespace faultline
