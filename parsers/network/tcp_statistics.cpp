#include "parsers/network/tcp_statistics.h"

#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kSent = "segments sent";
constexpr std::string_view kAgain = "segments sent again";

struct Counter {
  std::string_view name;
  std::string_view count;
};

// "    1822312 segments sent out", "    82911 segments retransmitted", "TcpOutSegs   1822312   0.0"
std::optional<Counter> counter_in(std::string_view text) {
  const auto words = words_of(text, 5);
  if (words.size() == 3 && words[0].starts_with("Tcp") && is_count(words[1])) {
    if (words[0] == "TcpOutSegs") return Counter{kSent, words[1]};
    if (words[0] == "TcpRetransSegs") return Counter{kAgain, words[1]};
  }
  if (words.size() < 3 || words.size() > 4 || !is_count(words[0]) || words[1] != "segments")
    return std::nullopt;
  if (words.size() == 4 && words[3] == "out" && (words[2] == "sent" || words[2] == "send"))
    return Counter{kSent, words[0]};
  if (words.size() == 3 && (words[2] == "retransmitted" || words[2] == "retransmited"))
    return Counter{kAgain, words[0]};
  return std::nullopt;
}

// Takes off a name, a colon and a number.
std::optional<Counter> named_count(std::string_view& text) {
  Counter counter;
  if (!take_until(text, ":", counter.name)) return std::nullopt;
  counter.name = trimmed(counter.name);
  text = trimmed(text);
  counter.count = text.substr(0, text.find_first_of(" ,;\t"));
  text.remove_prefix(counter.count.size());
  const std::size_t next = text.find_first_not_of(" ,;\t");
  text = next == text.npos ? std::string_view() : text.substr(next);
  return is_count(counter.count) ? std::optional(counter) : std::nullopt;
}

bool has_front(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i)
    if ((text[i] | 0x20) != lower[i]) return false;
  return true;
}

struct Share {
  std::string_view sent;
  std::string_view again;
};

// Total: 1822312 Retransmits: 82911 Rate: 4.54977 %
std::optional<Share> share_in(std::string_view text) {
  if (!has_front(text, "total")) return std::nullopt;
  const auto total = named_count(text);
  if (!total || !has_front(text, "retrans")) return std::nullopt;
  const auto again = named_count(text);
  if (!again || again->count.size() > total->count.size()) return std::nullopt;
  return Share{total->count, again->count};
}

class TcpStatistics : public PartDocument {
 public:
  TcpStatistics() : PartDocument("tcp-statistics") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (cut()) return Line::foreign;
    if (const auto share = share_in(text)) {
      give_all();
      OpenPart& path = open("path");
      path.value(kSent, share->sent);
      path.value(kAgain, share->again);
      return Line::last;
    }
    const auto counter = counter_in(text);
    if (!counter) return last() == nullptr ? Line::after : Line::foreign;
    if (last() != nullptr && last()->has_value(counter->name)) give_all();
    (last() != nullptr ? *last() : open("host")).value(counter->name, counter->count);
    const bool whole = last()->has_value(kSent) && last()->has_value(kAgain);
    return whole ? Line::last : Line::part;
  }
};

}  // namespace

bool begins_tcp_statistics(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  if (text.front() == 'T') return text.starts_with("TcpOutSegs ") || share_in(text).has_value();
  const std::size_t blank = text.find(' ');
  return blank != text.npos && text.substr(blank).starts_with(" segments ") &&
         counter_in(text).has_value();
}

std::unique_ptr<Document> make_tcp_statistics() { return std::make_unique<TcpStatistics>(); }

}  // namespace faultline
