#include "parsers/network/ping.h"

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

struct Head {
  std::string_view to;
  std::string_view address;
  std::string_view from;
  std::string_view bytes;
};

// PING gpu-8 (10.0.0.8) 8972(9000) bytes of data.
// PING gpu-8 (10.0.0.8) from 10.0.0.7 eth0: 8972(9000) bytes of data.
// PING gpu-8(gpu-8 (fd00::8)) 8952 data bytes
std::optional<Head> head_line(std::string_view text) {
  Head head;
  if (!take_front(text, "PING ") || !take_until(text, "(", head.to)) return std::nullopt;
  head.to = trimmed(head.to);
  std::string_view inner;
  if (!take_until(text, ") ", inner)) return std::nullopt;
  while (inner.ends_with(')')) inner.remove_suffix(1);
  const std::size_t bracket = inner.rfind('(');
  head.address = bracket == std::string_view::npos ? inner : inner.substr(bracket + 1);
  std::string_view source;
  if (text.starts_with("from ") && take_until(text, ": ", source)) {
    const auto words = words_of(source);
    if (words.size() > 1) head.from = words[1];
  }
  for (const std::string_view end : {" bytes of data", " data bytes"})
    if (const std::size_t at = text.find(end); at != std::string_view::npos)
      head.bytes = text.substr(0, at);
  if (head.to.empty() || head.bytes.empty()) return std::nullopt;
  return head;
}

// --- 10.0.0.8 ping statistics ---
std::optional<std::string_view> statistics_line(std::string_view text) {
  std::string_view host;
  if (!take_front(text, "--- ") || !take_until(text, " ping statistics", host)) return {};
  return host;
}

// 3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2041ms
bool is_counts(std::string_view text) {
  const std::string_view sent = text.substr(0, text.find(' '));
  return is_count(sent) && text.substr(sent.size()).starts_with(" packets transmitted, ") &&
         text.find("packet loss") != text.npos;
}

class Ping : public PartDocument {
 public:
  Ping() : PartDocument("ping") {}

 private:
  enum Stage { kErrorsOnly, kProbes, kStatistics, kDone };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (cut() && text.find("mtu") != std::string_view::npos) return Line::foreign;
    if (const auto head = head_line(text)) {
      // An error on stderr may come before the line that begins its run.
      if (stage_ != kErrorsOnly || last() == nullptr) give_complete();
      OpenPart& path = part();
      path.name("to", head->to);
      path.name("to_address", head->address);
      path.name("from", head->from);
      path.value("bytes", head->bytes);
      stage_ = kProbes;
      return Line::part;
    }
    if (const auto host = statistics_line(text)) {
      if (stage_ >= kStatistics) give_complete();
      part().name("to", *host);
      stage_ = kStatistics;
      return Line::part;
    }
    if (take_front(text, "ping: ") || take_front(text, "ping6: ")) return read_error(text);
    if (is_counts(text) && (stage_ != kErrorsOnly || last() == nullptr)) {
      if (stage_ == kDone) give_complete();
      read_counts(text);
      return Line::part;
    }
    if (stage_ == kErrorsOnly) return Line::after;
    if (stage_ == kDone && (take_front(text, "rtt ") || take_front(text, "round-trip "))) {
      std::string_view names;
      if (take_until(text, " = ", names)) part().value(names, text.substr(0, text.find(',')));
      return Line::last;
    }
    return read_probe(text) ? Line::part : stage_ == kDone ? Line::after : Line::foreign;
  }

  // A run that was broken off is kept only for its errors.
  void end() override {
    if (stage_ != kDone && last() != nullptr && !last()->has_value("error"))
      last()->report.values.clear();
  }

  void give_complete() {
    end();
    give_all();
    words_.clear();
  }

  OpenPart& part() { return last() != nullptr ? *last() : open("path"); }

  // local error: message too long, mtu=1400
  // gpu-9: Name or service not known
  Line read_error(std::string_view text) {
    if (stage_ == kDone) {
      give_complete();
      stage_ = kErrorsOnly;
    }
    std::string_view host;
    std::string_view rest = text;
    const bool of_host = take_until(rest, ": ", host) && host != "local error" &&
                         host != "connect" && host != "sendmsg" &&
                         host.find(' ') == std::string_view::npos;
    if (of_host && stage_ == kErrorsOnly) {
      give_complete();
      part().name("to", host);
      error(rest);
      return Line::last;
    }
    error(text);
    return host == "connect" && stage_ == kErrorsOnly ? Line::last : Line::part;
  }

  // Adds each error only once, because every probe repeats it.
  void error(std::string_view text) {
    constexpr std::size_t kMostErrors = 8;
    for (const std::string& known : words_)
      if (known == text) return;
    if (words_.size() == kMostErrors) return;
    word(text);
    part().value("error", text);
  }

  // 3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2041ms
  void read_counts(std::string_view text) {
    for (const std::string_view piece : pieces_of(text, ",")) {
      const std::size_t blank = piece.find(' ');
      if (blank == std::string_view::npos) continue;
      if (piece.starts_with("time "))
        part().value("time", piece.substr(blank + 1));
      else
        part().value(trimmed(piece.substr(blank)), piece.substr(0, blank));
    }
    stage_ = kDone;
  }

  // 8980 bytes from 10.0.0.8: icmp_seq=1 ttl=64 time=0.061 ms
  // From 10.0.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)
  bool read_probe(std::string_view text) {
    if (text.find(" bytes from ") != std::string_view::npos)
      return text.find("icmp_seq=") != std::string_view::npos;
    if (text.starts_with("no answer yet for icmp_seq=")) return true;
    if (text == "^C") return true;
    const auto words = words_of(text);
    if (words.size() < 3 || (words[0] != "From" && words[0] != "from")) return false;
    std::string_view rest = text;
    std::string_view before;
    if (!take_until(rest, "icmp_seq=", before)) return false;
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    error(trimmed(rest));
    return true;
  }
};

}  // namespace

bool begins_ping(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  switch (text.front()) {
    case 'P':
      return text.starts_with("PING ") && head_line(text).has_value();
    case 'p':
      return text.starts_with("ping: ") || text.starts_with("ping6: ");
    case '-':
      return statistics_line(text).has_value();
    default:
      return is_counts(text);
  }
}

std::unique_ptr<Document> make_ping() { return std::make_unique<Ping>(); }

}  // namespace faultline
