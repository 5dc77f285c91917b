#include "parsers/network/tcpdump.h"

#include <optional>
#include <string>

#include "parsers/scan.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

struct End {
  std::string_view address;
  std::string_view port;  // empty: there is none
};

struct Packet {
  End from;
  End to;
  std::string_view what;
};

// 10.0.0.7.45370: the number after the last dot is the port, unless it belongs to the address.
End end_of(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {text, {}};
  const bool v4 = text.find(':') == std::string_view::npos &&
                  text.find_first_not_of("0123456789.") == std::string_view::npos;
  std::size_t dots = 0;
  for (const char c : text) dots += c == '.' ? 1 : 0;
  if (v4 && dots == 3) return {text, {}};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

bool has_clock(std::string_view text) {
  return text.size() > 16 && text[2] == ':' && text[5] == ':' && text[8] == '.' && text[15] == ' ';
}

// 08:10:22.821945 IP 10.0.0.7.45370 > 10.0.0.8.15211: Flags [P.], seq 1:38, ack 1, length 37
std::optional<Packet> packet_line(std::string_view text) {
  if (has_clock(text)) text.remove_prefix(16);
  // If it captures on all interfaces, it names each packet's: "eth0  In  IP …".
  if (!text.starts_with("IP")) {
    std::string_view interface;
    if (!take_until(text, " IP", interface) || interface.size() > 32) return {};
    if (!interface.ends_with(" In ") && !interface.ends_with(" Out") && !interface.ends_with(" In"))
      return {};
  } else {
    text.remove_prefix(2);
  }
  take_front(text, "6");
  if (!take_front(text, " ")) return {};
  std::string_view from;
  std::string_view to;
  if (!take_until(text, " > ", from) || !take_until(text, ": ", to) || from.empty() || to.empty() ||
      from.find(' ') != from.npos || to.find(' ') != to.npos)
    return {};
  return Packet{end_of(from), end_of(to), text};
}

std::optional<std::string_view> total_line(std::string_view text) {
  std::string_view count;
  if (!take_until(text, " ", count) || !is_count(count)) return {};
  if (text == "packets captured" || text == "packet captured" ||
      text == "packets received by filter" || text == "packet received by filter" ||
      text == "packets dropped by kernel" || text == "packet dropped by kernel")
    return text;
  return {};
}

bool is_head(std::string_view text) {
  return text.starts_with("tcpdump: ") ||
         (text.starts_with("listening on ") && text.find(", link-type ") != text.npos);
}

class Capture : public PartDocument {
 public:
  Capture() : PartDocument("tcpdump") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (const auto packet = packet_line(text)) {
      read_packet(*packet);
      return Line::part;
    }
    if (const auto name = total_line(text)) {
      OpenPart* host = find("host", "to", "");
      (host != nullptr ? *host : open("host")).value(*name, text.substr(0, text.find(' ')));
      return name->ends_with("dropped by kernel") ? Line::last : Line::part;
    }
    return is_head(text) ? Line::part : Line::foreign;
  }

  // Only the beginning of a connection and a reset say something about the path.
  void read_packet(const Packet& packet) {
    std::string_view flags = packet.what;
    if (!take_front(flags, "Flags [")) return;
    flags = flags.substr(0, flags.find(']'));
    const bool asks = flags == "S";
    const bool answers = flags == "S.";
    if (!asks && !answers && flags.find('R') == std::string_view::npos) return;
    const std::string name = "Flags [" + std::string(flags.substr(0, 8)) + "]";
    if (asks) return count(path(packet.from, packet.to), name);
    // An answer or a reset counts for the path on which the connection was asked for.
    if (OpenPart* asked = known(packet.to, packet.from)) {
      count(asked, name);
    } else if (OpenPart* same = known(packet.from, packet.to)) {
      count(same, name + " by itself");
    } else {
      count(path(packet.from, packet.to), name);
    }
  }

  OpenPart* known(const End& from, const End& to) {
    return find_if([&](const OpenPart& part) {
      return part.report.kind == "path" && part.name_of("from") == from.address &&
             part.name_of("to") == to.address && part.name_of("port") == to.port;
    });
  }

  OpenPart* path(const End& from, const End& to) {
    constexpr int kMostPaths = 256;
    if (OpenPart* part = known(from, to)) return part;
    if (stage_ >= kMostPaths) return nullptr;
    ++stage_;
    OpenPart& part = open("path");
    part.name("from", from.address);
    part.name("to", to.address);
    part.name("port", to.port);
    return &part;
  }

  static void count(OpenPart* part, const std::string& name) {
    if (part == nullptr) return;
    for (NamedValue& value : part->report.values) {
      if (value.name != name) continue;
      std::uint64_t sum = 0;
      Scan(value.value).decimal(sum);
      value.value = std::to_string(sum + 1);
      return;
    }
    part->value(name, "1");
  }

  void end() override { stage_ = 0; }
};

}  // namespace

bool begins_tcpdump(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  switch (text.front()) {
    case 'I':
      return text.starts_with("IP") && packet_line(text).has_value() &&
             (text.find(": Flags [") != text.npos || text.find(": tcp ") != text.npos ||
              text.find(": UDP") != text.npos);
    case 't':
    case 'l':
      return is_head(text);
    default:
      if (text.front() < '0' || text.front() > '9') return false;
      return has_clock(text) ? packet_line(text).has_value()
                             : total_line(without_end_blanks(text)).has_value();
  }
}

std::unique_ptr<Document> make_tcpdump() { return std::make_unique<Capture>(); }

}  // namespace faultline
