// ibping and perftest (ib_write_bw and its siblings): what got through from one host to another.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

// --- ibping

// --- gpu-8.cluster.local (Lid 41) ibping statistics ---
bool open_ping(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "--- ")) return false;
  const std::size_t lid = text.find(" (Lid ");
  const std::size_t end = text.find(") ibping statistics ---");
  if (lid == text.npos || end == text.npos || end < lid) return false;
  parts.begin_block();
  parts.open("ibping", "path");
  parts.name("from", parts.context.host);
  parts.name("to", text.substr(0, lid));
  parts.name("to_lid", assigned_lid(trimmed(text.substr(lid + 6, end - lid - 6))));
  return true;
}

// 4 packets transmitted, 3 received, 25% packet loss, time 3001 ms
bool read_loss(std::string_view text, PartWriter& parts) {
  std::string_view rest = text;
  const std::string_view sent = take_off_word(rest);
  if (!is_decimal(sent) || !take_off(rest, " packets transmitted, ")) return false;
  const std::string_view received = take_off_word(rest);
  if (!is_decimal(received) || !take_off(rest, " received, ")) return false;
  const std::string_view loss = take_off_word(rest);
  if (!take_off(rest, " packet loss")) return false;
  parts.value("packets transmitted", sent);
  parts.value("received", received);
  parts.value("packet loss", loss);
  return true;
}

// --- perftest

constexpr std::string_view kColumns = "columns:";

bool is_title(std::string_view text) {
  if (!text.ends_with(" Test") || text.size() > 64) return false;
  return (text.find(" BW ") != text.npos || text.find(" Latency ") != text.npos) &&
         (text.find("Send") != text.npos || text.find("RDMA") != text.npos ||
          text.find("Atomic") != text.npos);
}

// Couldn't connect to gpu-8:18515
bool is_refusal(std::string_view text) {
  return take_off(text, "Couldn't connect to ") && text.find(' ') == text.npos &&
         text.find(':') != text.npos && is_decimal(text.substr(text.rfind(':') + 1));
}

bool is_complaint(std::string_view text) {
  return is_refusal(text) || text.starts_with("Unable to find the Infiniband/RoCE device") ||
         text.starts_with("Unable to Connect the HCA's through the link") ||
         text.starts_with("Did not detect devices") ||
         text.starts_with("Completion with error at ") || text.starts_with("Failed status ") ||
         text.starts_with("Error: BW result is below bw limit");
}

void open_test(PartWriter& parts) {
  parts.open("perftest", "path");
  parts.name("from", parts.context.host);
  parts.name("to", parts.context.peer);
}

// "#bytes #iterations BW peak[Gb/sec]": a name that has several words ends with a unit.
std::vector<std::string> columns_of(std::string_view head) {
  std::vector<std::string> columns;
  std::string name;
  for (const std::string_view word : words_of(head)) {
    if (!name.empty()) name += ' ';
    name += word;
    if (!name.starts_with('#') && !name.ends_with(']') && name != "tps average") continue;
    columns.push_back(std::move(name));
    name.clear();
  }
  if (!name.empty()) columns.push_back(std::move(name));
  return columns;
}

bool is_measure(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.") == word.npos;
}

double number_of(std::string_view word) {
  double value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
bool is_head(std::string_view text) {
  if (!text.starts_with("#bytes ")) return false;
  return text.find("BW average[") != text.npos || text.find("t_typical[") != text.npos ||
         text.find("t_avg[") != text.npos || text.find("tps average") != text.npos;
}

// Keeps the best row beside the last one: the last row shows the link now, the best row what it can
// reach.
void keep_best(const std::vector<std::string>& columns, const std::vector<std::string_view>& words,
               PartWriter& parts) {
  const auto average = std::ranges::find_if(
      columns, [](const std::string& column) { return column.starts_with("BW average["); });
  const auto at = static_cast<std::size_t>(average - columns.begin());
  if (at >= words.size()) return;
  const std::string name = "best " + *average;
  const std::string_view before =
      value_of(parts.block.draft.report.values, parts.has_value(name) ? name : *average);
  const bool falls = number_of(words[at]) < number_of(before);
  if (falls || parts.has_value(name))
    parts.value(name, falls ? std::string(before) : std::string(words[at]));
}

// A row for each message size. The same size again is a new sample.
bool read_row(std::string_view text, PartWriter& parts) {
  std::string_view head = parts.block.section;
  if (!take_off(head, kColumns)) return false;
  const std::vector<std::string> columns = columns_of(head);
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 3 || words.size() > columns.size()) return false;
  for (const std::string_view word : words)
    if (!is_measure(word)) return false;
  if (!parts.is_open()) {
    open_test(parts);
  } else if (value_of(parts.block.draft.report.values, columns[0]) == words[0]) {
    const PartReport same = parts.block.draft.report;
    open_test(parts);
    for (const NamedValue& name : same.names) parts.name(name.name, name.value);
  }
  keep_best(columns, words, parts);
  for (std::size_t i = 0; i < words.size(); ++i) parts.value(columns[i], words[i]);
  return true;
}

// local address: LID 0x25 QPN 0x0089 PSN 0x6a0bcd
bool read_address(std::string_view text, PartWriter& parts) {
  const bool local = take_off(text, "local address:");
  if (!local && !take_off(text, "remote address:")) return false;
  if (take_off_word(text) == "LID")
    set_name(parts.block.names, local ? "from_lid" : "to_lid", assigned_lid(take_off_word(text)));
  return true;
}

// A line has two settings, with a tab or blanks between them.
bool read_test_setting(std::string_view text, PartWriter& parts) {
  for (const std::string_view key :
       {"Device ", "Mtu ", "Link type ", "Dual-port ", "Number of qps ", "Connection type ",
        "PCIe relax order", "ibv_wr* API", "TX depth", "RX depth", "CQ Moderation",
        "Max inline data", "rdma_cm QPs", "Data ex. method", "GID index", "Use ROCE",
        "CQE Poll Batch", "Transport type", "Using "}) {
    if (!text.starts_with(key)) continue;
    const std::size_t device = text.find("Device ");
    if (device != text.npos)
      if (const auto row = padded_key_and_value(text.substr(device)))
        set_name(parts.block.names, "device", row->value.substr(0, row->value.find(' ')));
    const auto row = padded_key_and_value(text);
    if (row && (row->key == "Mtu" || row->key == "Link type"))
      set_value(parts.block.values, row->key, row->value);
    return true;
  }
  return text.starts_with("GID: ") || text.starts_with("* Waiting for client") ||
         text.starts_with("WARNING: BW peak");
}

bool is_ruler(std::string_view text) {
  return text.size() >= 20 && text.find_first_not_of("-*") == text.npos;
}

}  // namespace

bool begins_ibping(std::string_view text) {
  return (text.front() == 'P' && text.starts_with("Pong from ")) ||
         (text.front() == '-' && text.ends_with(" ibping statistics ---"));
}

bool feed_ibping(std::string_view text, PartWriter& parts) {
  if (text.starts_with("Pong from ")) {
    if (parts.is_open()) parts.begin_block();
    return true;
  }
  if (open_ping(text, parts)) return true;
  if (!parts.is_open()) return false;
  if (read_loss(text, parts)) return true;
  if (!take_off(text, "rtt min/avg/max = ")) return false;
  parts.value("rtt min/avg/max", text);
  parts.close();
  return true;
}

bool begins_perftest(std::string_view text) {
  return is_title(text) || is_head(text) ||
         (!is_digit_character(text.front()) && is_complaint(text));
}

bool feed_perftest(std::string_view text, PartWriter& parts) {
  if (is_ruler(text)) return true;
  if (is_title(text)) {
    parts.begin_block();
    parts.block.section = "settings";
    set_value(parts.block.values, "test", text);
    return true;
  }
  if (is_complaint(text)) {
    if (!parts.is_open()) open_test(parts);
    std::string_view peer = text;
    if (take_off(peer, "Couldn't connect to ")) parts.name("to", peer.substr(0, peer.find(':')));
    // A line that says what failed replaces one that only says that something failed.
    if (!parts.has_value("error") || text.starts_with("Failed status")) parts.value("error", text);
    return true;
  }
  constexpr std::size_t kLongestHead = 512;  // it is read again for each row
  if (text.starts_with("#bytes ") && text.size() <= kLongestHead) {
    // Another table without a banner above it is another test.
    if (parts.is_open() && !parts.has_value("test")) parts.begin_block();
    parts.block.section = std::string(kColumns) + std::string(text);
    return true;
  }
  return read_row(text, parts) || read_address(text, parts) || read_test_setting(text, parts) ||
         text.starts_with("scnt=");
}

}  // namespace faultline
