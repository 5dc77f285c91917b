#include "parsers/nccl/proxy_dump.h"

#include "parsers/scan.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxParts = 256;  // NCCL's own limit is far below

std::string_view waits_for(char status) {
  switch (status) {
    case 'I':
      return "post";
    case 'R':
    case 'S':
      return "network";
    case 'F':
      return "flush";
    case 'G':
      return "gpu";
    case 'D':
      return "done";
    default:
      return {};
  }
}

// " 9G/0", " 9/0", and " 9 /0" in a collective.
bool read_part(Scan& in, ProxyOperation& operation) {
  if (!in.skip(" ") || !in.integer(operation.peer)) return false;
  operation.waits_for.clear();
  if (in.peek() != '/') {
    const std::string_view rest = in.rest();
    if (rest.empty()) return false;
    operation.waits_for = waits_for(rest.front());
    if (operation.waits_for.empty() && rest.front() != ' ') return false;
    in = Scan(rest.substr(1));
  }
  return in.skip("/") && in.decimal(operation.channel);
}

}  // namespace

bool parse_proxy_dump_head(std::string_view text, std::vector<Reading>& readings) {
  while (text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  if (text != "ACTIVE OPS") return false;
  readings.push_back({.fact = ReportOpened{.tool = "proxy", .names_all = true}});
  return true;
}

bool parse_proxy_operation(std::string_view text, std::vector<Reading>& readings) {
  Scan in(text);
  in.skip_blanks();
  in.skip("| `-> ");
  int pool = 0;
  std::int64_t tagged = 0;
  ProxyOperation operation;
  if (!in.skip("[") || !in.integer(pool) || !in.skip("-") || !in.integer(pool) || !in.skip("|") ||
      !in.decimal(tagged) || !in.skip("| "))
    return false;
  operation.kind = in.letters();
  if (operation.kind != "Send" && operation.kind != "Recv" && operation.kind != "Coll")
    return false;
  // Since 2.13.4 the lowest bit distinguishes point-to-point (1) from collective (0).
  operation.operation = static_cast<std::uint64_t>(tagged) >> 1;
  operation.point_to_point = (tagged & 1) != 0;
  std::vector<Reading> parts;
  while (in.peek() == ' ' && parts.size() < kMaxParts) {
    if (!read_part(in, operation)) return false;
    parts.push_back({.fact = operation});
  }
  if (!in.skip("]") || parts.empty()) return false;
  for (Reading& part : parts) readings.push_back(std::move(part));
  return true;
}

}  // namespace faultline
