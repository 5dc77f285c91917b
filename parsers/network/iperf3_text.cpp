#include "parsers/network/iperf3_text.h"

#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

class Iperf3 : public PartDocument {
 public:
  Iperf3() : PartDocument("iperf3") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (read_begin(text)) return Line::part;
    if (take_front(text, "iperf3: error - ") || take_front(text, "iperf3: interrupt - ")) {
      path().value("error", text);
      return Line::last;
    }
    if (last() == nullptr) return Line::foreign;
    if (text == "iperf Done.") return Line::last;
    if (text.front() == '[') return read_bracket(text) ? Line::part : Line::foreign;
    if (text.starts_with("Reverse mode, remote host ")) {
      path().value("Reverse mode", "yes");
      return Line::part;
    }
    const bool known = text.find_first_not_of("- ") == std::string_view::npos ||
                       text.starts_with("Server listening on ") || text.starts_with("Time: ") ||
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
      begin().name("to", host);  // of the one that prints, as everywhere here
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

  bool read_bracket(std::string_view text) {
    std::string_view id;
    if (!take_until(text, "]", id)) return false;
    id = trimmed(id.substr(1));
    text = trimmed(text);
    if (id == "ID") return read_columns(text);
    if (id != "SUM" && !is_count(id)) return false;
    if (take_front(text, "local ")) return read_connection(text);
    return read_row(id, text);
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

  bool read_columns(std::string_view text) {
    words_.clear();
    for (const std::string_view known : {"Transfer", "Bitrate", "Bandwidth", "Retr", "Jitter"})
      if (text.find(known) != std::string_view::npos) word(known);
    if (text.find("Lost/Total Datagrams") != std::string_view::npos) word("Lost/Total Datagrams");
    return true;
  }

  // "0.00-3.00   sec  8.43 GBytes  24.1 Gbits/sec  434             sender": only the last rows say
  // who measured; of these the sum counts, and is printed after what it sums.
  bool read_row(std::string_view id, std::string_view text) {
    const auto words = words_of(text);
    if (words.size() < 6 || words[1] != "sec") return false;
    const std::string_view role = words.back();
    if (role != "sender" && role != "receiver") return true;
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
    if (id != "SUM" && !path().has_value("stream")) path().value("stream", id);
    return true;
  }

  std::string joined() const {
    std::string all;
    for (const std::string& column : words_) all += column + " ";
    return all;
  }

  void tell(std::string_view role, std::string_view column, std::string_view text) {
    const std::string name = std::string(role) + " / " + std::string(column);
    for (NamedValue& value : path().report.values) {
      if (value.name != name) continue;
      value.value = text.substr(0, 64);
      return;
    }
    path().value(name, text);
  }
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
    case 'i':
      return text.starts_with("iperf3: error - ") || text.starts_with("iperf3: interrupt - ");
    default:
      return false;
  }
}

std::unique_ptr<Document> make_iperf3_text() { return std::make_unique<Iperf3>(); }

}  // namespace faultline
