#include "parsers/network/tshark.h"

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/scan.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// "TCP Conversations"
bool is_conversations(std::string_view text) {
  return text == "TCP Conversations" || text == "UDP Conversations";
}

// "Warns (28)"
bool is_expert_heading(std::string_view text) {
  std::string_view word;
  if (!take_until(text, " (", word) || !text.ends_with(')')) return false;
  text.remove_suffix(1);
  return is_count(text) &&
         (word == "Errors" || word == "Warns" || word == "Notes" || word == "Chats");
}

bool is_rule(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("|-=") == std::string_view::npos;
}

void add(OpenPart& part, std::string_view name, std::string_view count) {
  for (NamedValue& value : part.report.values) {
    if (value.name != name) continue;
    std::uint64_t sum = 0;
    std::uint64_t more = 0;
    if (Scan(value.value).decimal(sum) && Scan(count).decimal(more))
      value.value = std::to_string(sum + more);
    return;
  }
  part.value(name, count);
}

class Statistics : public PartDocument {
 public:
  Statistics() : PartDocument("tshark") {}

 private:
  enum Stage { kNothing, kColumns, kIntervals, kConversations, kExpert };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (text.starts_with("| IO Statistics")) return begin(kColumns);
    if (is_conversations(text)) return begin(kConversations);
    if (is_expert_heading(text)) {
      if (stage_ != kExpert) begin(kExpert);
      return Line::part;
    }
    switch (stage_) {
      case kColumns:
      case kIntervals:
        return read_io(text);
      case kConversations:
        return read_conversation(text);
      case kExpert:
        return read_expert(text) ? Line::part : Line::foreign;
      default:
        return Line::foreign;
    }
  }

  Line begin(Stage stage) {
    give_all();
    words_.clear();
    stage_ = stage;
    return Line::part;
  }

  Line read_io(std::string_view text) {
    if (is_rule(text)) return stage_ == kIntervals && text.front() == '=' ? Line::last : Line::part;
    const auto cells = cells_of(text);
    if (cells.empty()) return Line::foreign;
    if (cells.size() == 1) {
      read_column(cells[0]);
      return Line::part;
    }
    if (cells[0].find(" <> ") == std::string_view::npos) return Line::part;  // the head
    stage_ = kIntervals;
    OpenPart* host = find("host", "to", "");
    if (host == nullptr) host = &open("host");
    for (std::size_t i = 0; i + 1 < cells.size() && i < words_.size(); ++i)
      if (is_count(cells[i + 1])) add(*host, words_[i], cells[i + 1]);
    return Line::part;
  }

  // "Col 1: COUNT(tcp.analysis.retransmission)tcp.analysis.retransmission", "2: Frames and bytes"
  void read_column(std::string_view cell) {
    take_front(cell, "Col ");
    std::string_view number;
    if (!take_until(cell, ": ", number) || !is_count(trimmed(number))) return;
    const std::size_t bracket = cell.find(')');
    word(bracket == std::string_view::npos ? cell : cell.substr(0, bracket + 1));
    if (cell == "Frames and bytes") word("bytes");
  }

  // 10.0.0.7:45380 <-> 10.0.0.8:15211  77 5090 bytes  209 11 MB  286 11 MB  0.000326000  0.0280
  Line read_conversation(std::string_view text) {
    if (text.starts_with("====")) return last() != nullptr ? Line::last : Line::part;
    const auto cells = words_of(text, 32);
    if (cells.size() < 14 || cells[1] != "<->")
      return text.front() == '|' || text.starts_with("Filter:") ? Line::part : Line::foreign;
    const std::size_t colon = cells[2].rfind(':');
    const std::size_t own = cells[0].rfind(':');
    if (colon == std::string_view::npos || own == std::string_view::npos) return Line::foreign;
    OpenPart& path = open("path");
    path.name("from", cells[0].substr(0, own));
    path.name("to", cells[2].substr(0, colon));
    path.name("port", cells[2].substr(colon + 1));
    constexpr std::string_view kSides[] = {"<-", "->", "Total"};
    for (std::size_t side = 0; side < std::size(kSides); ++side) {
      const std::size_t at = 3 + 3 * side;
      path.value(std::string(kSides[side]) + " Frames", cells[at]);
      path.value(std::string(kSides[side]) + " Bytes",
                 std::string(cells[at + 1]) + " " + std::string(cells[at + 2]));
    }
    path.value("Relative Start", cells[12]);
    path.value("Duration", cells[13]);
    return Line::part;
  }

  //   28  Sequence  TCP  This frame is a (suspected) retransmission
  bool read_expert(std::string_view text) {
    if (is_rule(text) || text.starts_with("Frequency ")) return true;
    const auto cells = words_of(text, 4);
    if (cells.size() < 4 || !is_count(cells[0])) return false;
    std::string_view summary = text;
    for (std::size_t i = 0; i < 3; ++i) {
      summary.remove_prefix(cells[i].size());
      summary.remove_prefix(indentation(summary));
    }
    OpenPart* host = find("host", "to", "");
    add(host != nullptr ? *host : open("host"), summary, cells[0]);
    return true;
  }
};

}  // namespace

bool begins_tshark(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  switch (text.front()) {
    case '|':
      return text.starts_with("| IO Statistics ");
    case 'T':
    case 'U':
      return is_conversations(without_end_blanks(text));
    case 'E':
    case 'W':
    case 'N':
    case 'C':
      return is_expert_heading(without_end_blanks(text));
    default:
      return false;
  }
}

std::unique_ptr<Document> make_tshark() { return std::make_unique<Statistics>(); }

}  // namespace faultline
