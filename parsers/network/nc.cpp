#include "parsers/network/nc.h"

#include <optional>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

struct Attempt {
  std::string_view to;
  std::string_view address;
  std::string_view port;
  std::string_view protocol;
  std::string_view result;  // "succeeded"
  std::string_view error;
};

bool ends_with_brackets(std::string_view text, Attempt& attempt) {
  const std::size_t open = text.find(" (");
  attempt.to = text.substr(0, open);
  if (open == std::string_view::npos) return true;
  attempt.address = text.substr(open + 2);
  if (!attempt.address.ends_with(')')) return false;
  attempt.address.remove_suffix(1);
  return true;
}

// Connection to 10.0.0.8 29500 port [tcp/*] succeeded!
// Connection to gpu-8 (10.0.0.8) 29500 port [tcp/*] succeeded!
std::optional<Attempt> success(std::string_view text) {
  Attempt attempt;
  std::string_view target;
  if (!take_front(text, "Connection to ") || !take_until(text, " port [", target) ||
      !take_until(text, "] ", attempt.protocol) || text != "succeeded!")
    return {};
  const std::size_t blank = target.rfind(' ');
  if (blank == std::string_view::npos || !ends_with_brackets(target.substr(0, blank), attempt))
    return {};
  attempt.port = target.substr(blank + 1);
  attempt.result = "succeeded";
  return attempt;
}

// nc: connect to gpu-8 (10.0.0.8) port 29500 (tcp) failed: Connection refused
// nc: getaddrinfo for host "gpu-8" port 29500: Name or service not known
std::optional<Attempt> failure(std::string_view text) {
  Attempt attempt;
  std::string_view target;
  if (!take_front(text, "nc: ")) return {};
  if (take_front(text, "connect to ")) {
    if (!take_until(text, " port ", target) || !ends_with_brackets(target, attempt) ||
        !take_until(text, " (", attempt.port) || !take_until(text, ") ", attempt.protocol))
      return {};
    attempt.error = take_front(text, "failed: ") ? text : trimmed(text);
    return attempt;
  }
  if (!take_front(text, "getaddrinfo for host \"") || !take_until(text, "\" port ", attempt.to) ||
      !take_until(text, ": ", attempt.port))
    return {};
  attempt.error = text;
  return attempt;
}

std::optional<Attempt> attempt_in(std::string_view text) {
  text = trimmed(text);
  auto attempt = success(text);
  if (!attempt) attempt = failure(text);
  if (attempt && (attempt->to.empty() || !is_count(attempt->port))) return {};
  return attempt;
}

class Nc : public PartDocument {
 public:
  Nc() : PartDocument("nc") {}

 private:
  Line read(std::string_view text) override {
    const auto attempt = attempt_in(text);
    if (!attempt) return Line::after;
    OpenPart& path = open("path");
    path.name("to", attempt->to);
    path.name("to_address", attempt->address);
    path.name("port", attempt->port);
    if (!attempt->result.empty()) path.value("result", attempt->result);
    if (!attempt->error.empty()) path.value("error", attempt->error);
    return Line::last;
  }
};

}  // namespace

bool begins_nc(std::string_view text) {
  text.remove_prefix(indentation(text));
  return (text.starts_with("nc: ") || text.starts_with("Connection to ")) &&
         attempt_in(text).has_value();
}

std::unique_ptr<Document> make_nc() { return std::make_unique<Nc>(); }

}  // namespace faultline
