#include "parsers/network/iperf3_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kSum = "SUM";

// [SUM]   0.00-30.00  sec   330 GBytes  94.3 Gbits/sec  434             sender
struct Row {
  std::string_view id;
  std::string_view interval;
  std::vector<std::string_view> words;
};

// text: a line after its bracket. None: it is not a row.
std::optional<Row> row_in(std::string_view id, std::string_view text) {
  Row row{.id = id, .interval = {}, .words = words_of(text, 16)};
  // "0.0- 9.9": older versions leave a blank.
  if (row.words.size() > 6 && row.words[0].ends_with('-') && row.words[2] == "sec")
    row.words.erase(row.words.begin());
  if (row.words.size() < 6 || row.words[1] != "sec") return std::nullopt;
  row.interval = row.words[0];
  if (row.interval.find_first_not_of("0123456789.-") != std::string_view::npos) return std::nullopt;
  if (!row.words[3].ends_with("Bytes") || !row.words[5].ends_with("bits/sec")) return std::nullopt;
  return row;
}

// Takes "[SUM]" or "[  5]" off and returns the text in the bracket. Empty: the line is not a row.
std::string_view take_bracket(std::string_view& text) {
  std::string_view id;
  if (!take_front(text, "[") || !take_until(text, "]", id)) return {};
  text = trimmed(text);
  id = trimmed(id);
  return id == "ID" || id == kSum || is_count(id) ? id : std::string_view();
}

bool names_columns(std::string_view text) {
  return text.starts_with("Interval ") && text.find("Transfer ") != text.npos;
}

class Iperf3 : public PartDocument {
 public:
  Iperf3() : PartDocument("iperf3") {}

 private:
  enum Stage { kRows, kRuler };  // kRuler: the line above the totals of a test

  Line read(std::string_view text) override {
    text = trimmed(text);
    const bool after_ruler = std::exchange(stage_, kRows) == kRuler;
    if (read_begin(text)) return Line::part;
    if (take_front(text, "iperf3: error - ") || take_front(text, "iperf3: interrupt - ")) {
      path().value("error", text);
      return Line::last;
    }
    if (text.front() == '[') return read_bracket(text, after_ruler) ? Line::part : Line::foreign;
    if (last() == nullptr) return Line::foreign;
    if (text == "iperf Done.") return Line::last;
    if (text.starts_with("Reverse mode, remote host ")) {
      path().value("Reverse mode", "yes");
      return Line::part;
    }
    if (text.find_first_not_of("- ") == std::string_view::npos) {
      stage_ = kRuler;
      return Line::part;
    }
    const bool known = text.starts_with("Server listening on ") || text.starts_with("Time: ") ||
                       text.starts_with("Cookie: ") || text.starts_with("CPU Utilization: ") ||
                       text.starts_with("Starting Test: ") ||
                       text.starts_with("Test Complete. Summary Results");
    return known ? Line::part : Line::foreign;
  }

  bool read_begin(std::string_view text) {
    std::string_view host;
    if (take_front(text, "Connecting to host ")) {
      if (!take_until(text, ", port ", host)) return false;
      begin().name("to", host);
      last()->name("port", text);
      return true;
    }
    if (take_front(text, "Accepted connection from ")) {
      if (!take_until(text, ", port ", host)) return false;
      begin().name("to", host);  // seen from the host that prints this, as everywhere here
      last()->value("role", "server");
      return true;
    }
    return false;
  }

  OpenPart& begin() {
    give_all();
    words_.clear();
    return open("path");
  }

  OpenPart& path() { return last() != nullptr ? *last() : open("path"); }

  bool read_bracket(std::string_view text, bool after_ruler) {
    const std::string_view id = take_bracket(text);
    if (id.empty()) return false;
    if (id == "ID") return read_columns(text, after_ruler);
    if (take_front(text, "local ")) return read_connection(text);
    const auto row = row_in(id, text);
    return row && !cut() && read_row(*row);
  }

  // 10.0.0.7 port 41382 connected to 10.0.0.8 port 5201
  bool read_connection(std::string_view text) {
    const auto words = words_of(text);
    if (words.size() < 8 || words[3] != "connected") return false;
    path().name("from", words[0]);
    path().name("to_address", words[5]);
    path().name("port", words[7]);
    return true;
  }

  bool read_columns(std::string_view text, bool after_ruler) {
    if (!names_columns(text)) return false;
    if (last() != nullptr && !after_ruler && (has_result() || last()->has_value(kInterval)))
      begin();
    words_.clear();
    for (const std::string_view known : {"Transfer", "Bitrate", "Bandwidth", "Retr", "Jitter"})
      if (text.find(known) != std::string_view::npos) word(known);
    if (text.find("Lost/Total Datagrams") != std::string_view::npos) word("Lost/Total Datagrams");
    return true;
  }

  bool has_result() {
    return last()->has_value("sender / Bitrate") || last()->has_value("receiver / Bitrate");
  }

  // Only the last rows name a role. Among them the sum counts; it comes after the rows that it sums
  // and replaces them.
  bool read_row(const Row& row) {
    const auto& words = row.words;
    const std::string_view role = words.back();
    if (role != "sender" && role != "receiver") {
      count_silence(row);
      return read_interval(row);
    }
    drop_interval();
    tell(role, "Transfer", std::string(words[2]) + " " + std::string(words[3]));
    tell(role, "Bitrate", std::string(words[4]) + " " + std::string(words[5]));
    const std::string columns = joined();
    if (columns.find("Retr") != std::string::npos && words.size() == 8)
      tell(role, "Retr", words[6]);
    if (columns.find("Jitter") != std::string::npos && words.size() >= 10) {
      tell(role, "Jitter", std::string(words[6]) + " " + std::string(words[7]));
      tell(role, "Lost/Total Datagrams",
           std::string(words[8]) + (words.size() > 10 ? " " + std::string(words[9]) : ""));
    }
    if (row.id == kSum) set("streams", "summed");
    if (row.id != kSum && !path().has_value("stream")) path().value("stream", row.id);
    return true;
  }

  // Counts an interval of the test in which nothing arrived.
  void count_silence(const Row& row) {
    if (row.words[2] != "0.00" || row.words[3] != "Bytes" || row.words.back() == "(omitted)")
      return;
    const std::string_view known = last() == nullptr ? std::string_view() : kept(kSilent);
    int count = 0;
    std::from_chars(known.data(), known.data() + known.size(), count);
    set(kSilent, std::to_string(count + 1));
  }

  std::string_view kept(std::string_view name) {
    for (const NamedValue& value : last()->report.values)
      if (value.name == name) return value.value;
    return {};
  }

  // If only a piece of a report was pasted, there may be only rows without a role. Keep the sum,
  // and the row with the longest time.
  bool read_interval(const Row& row) {
    if (last() != nullptr && has_result()) return true;
    if (last() != nullptr && last()->has_value(kInterval)) {
      const std::string known = text_of(kInterval);
      const bool summed = text_of("streams") == "summed";
      if (known == row.interval && (row.id == kSum) == summed) {
        if (summed || text_of("stream") == row.id)
          begin_again();  // the same row again belongs to another test
        else
          set("streams", "several");
      } else if ((summed && row.id != kSum) ||
                 (summed == (row.id == kSum) && length_of(row.interval) < length_of(known))) {
        return true;
      }
    }
    set(kInterval, row.interval);
    set("Transfer", std::string(row.words[2]) + " " + std::string(row.words[3]));
    set("Bitrate", std::string(row.words[4]) + " " + std::string(row.words[5]));
    if (joined().find("Retr") != std::string::npos && row.words.size() > 6 &&
        is_count(row.words[6]))
      set("Retr", row.words[6]);
    if (row.id == kSum)
      set("streams", "summed");
    else
      set("stream", row.id);
    return true;
  }

  // The totals of the last rows replace the values of intervals.
  void drop_interval() {
    if (last() == nullptr || !last()->has_value(kInterval)) return;
    std::erase_if(last()->report.values, [](const NamedValue& value) {
      return value.name == kInterval || value.name == "Transfer" || value.name == "Bitrate" ||
             value.name == "Retr" || value.name == "stream" || value.name == "streams";
    });
  }

  void begin_again() {
    std::vector<NamedValue> names = last()->report.names;
    const std::vector<std::string> columns = words_;
    begin().report.names = std::move(names);
    words_ = columns;
  }

  // "0.00-30.00": 30.
  static double length_of(std::string_view interval) {
    double from = 0;
    double to = 0;
    const char* end = interval.data() + interval.size();
    const auto first = std::from_chars(interval.data(), end, from);
    if (first.ec != std::errc() || first.ptr == end) return 0;
    return std::from_chars(first.ptr + 1, end, to).ec == std::errc() ? to - from : 0;
  }

  std::string joined() const {
    std::string all;
    for (const std::string& column : words_) all += column + " ";
    return all;
  }

  void tell(std::string_view role, std::string_view column, std::string_view text) {
    set(std::string(role) + " / " + std::string(column), text);
  }

  void set(std::string_view name, std::string_view text) {
    for (NamedValue& value : path().report.values) {
      if (value.name != name) continue;
      value.value = text.substr(0, 64);
      return;
    }
    path().value(name, text.substr(0, 64));
  }

  std::string text_of(std::string_view name) { return std::string(kept(name)); }

  static constexpr std::string_view kInterval = "Interval";
  static constexpr std::string_view kSilent = "silent intervals";
};

}  // namespace

bool begins_iperf3_text(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  switch (text.front()) {
    case 'C':
      return text.starts_with("Connecting to host ") && text.find(", port ") != text.npos;
    case 'A':
      return text.starts_with("Accepted connection from ") && text.find(", port ") != text.npos;
    case '[': {
      const std::string_view id = take_bracket(text);
      return id == "ID" ? names_columns(text) : !id.empty() && row_in(id, text).has_value();
    }
    case 'i':
      return text.starts_with("iperf3: error - ") || text.starts_with("iperf3: interrupt - ");
    default:
      return false;
  }
}

std::unique_ptr<Document> make_iperf3_text() { return std::make_unique<Iperf3>(); }

}  // namespace faultline
