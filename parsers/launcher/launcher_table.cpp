#include "parsers/launcher/launcher_table.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/host_name.h"
#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/python_traceback.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

using tool_text::trimmed;

constexpr std::string_view kFailures = "Failures:";
constexpr std::string_view kRoot = "Root Cause (first observed failure):";
constexpr std::string_view kIndent = "  ";  // before the fields of a row
constexpr std::size_t kMostFieldBytes = 512;
constexpr std::size_t kMostTellers = 4096;  // agents whose tables are mixed line by line
constexpr int kMostForeign = 256;           // foreign lines within the table

// 2026-03-05_02:47:19, local time
std::optional<Timestamp> stamp_of(std::string_view text) {
  std::string stamp(text.substr(0, 19));
  if (stamp.size() != 19 || stamp[10] != '_') return std::nullopt;
  stamp[10] = 'T';
  return parse_rfc3339(stamp);
}

bool is_rule(std::string_view text) {
  return text.size() >= 8 &&
         text.find_first_not_of(text.front() == '=' ? "=" : "-") == std::string_view::npos;
}

bool begins_row(std::string_view text) {
  if (!tool_text::take_front(text, "[")) return false;
  const std::size_t end = text.find("]:");
  return end != std::string_view::npos && end + 2 == text.size() &&
         tool_text::is_count(text.substr(0, end));
}

struct Row {
  ProcessExit exit;
  std::optional<Timestamp> time;
  KeptLine line;
  bool begun = false;
};

struct Table {
  bool root = false;
  Row row;
  std::unique_ptr<Document> traceback;  // the last field of the row, while it is read
};

class LauncherTable : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = trimmed(line.text);
    const std::pair key(line.rank, std::string(line.host));
    if (text == kFailures || text == kRoot) {
      if (tables_.size() == kMostTellers && !tables_.contains(key)) return Line::after;
      Table& table = tables_[key];
      give(table, readings);
      table.root = text == kRoot;
      foreign_ = 0;
      return Line::part;
    }
    const auto known = tables_.find(key);
    if (known == tables_.end()) return foreign();
    Table& table = known->second;
    if (table.traceback && read_traceback(table, line, readings)) return Line::part;
    // Logs are often posted without the end of their last line. Ignore that line; the lines above
    // it are whole.
    if (line.cut && !is_rule(text)) return Line::part;
    if (table.row.begun && line.text.starts_with(kIndent) && begins_python_traceback(text)) {
      read_field(text, line, table.row);
      table.traceback = make_python_traceback();
      read_traceback(table, line, readings);
      return Line::part;
    }
    if (begins_row(text)) {
      give(table, readings);
      table.row.begun = true;
      table.row.exit = {.teller = "torchrun", .first = table.root};
      table.row.line.keep(line);
      return Line::part;
    }
    if (is_rule(text)) {
      give(table, readings);
      if (text.front() == '-') return Line::part;
      tables_.erase(known);
      return tables_.empty() ? Line::last : Line::part;
    }
    if (text == "<NO_OTHER_FAILURES>" || text.empty()) return Line::part;
    if (!table.row.begun || !read_field(text, line, table.row)) return foreign();
    return Line::part;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (auto& [key, table] : tables_) give(table, readings);
  }

  std::string_view dialect() const override { return "torchrun"; }

  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const auto& [key, table] : tables_)
      bytes += sizeof(Table) + key.second.size() + table.row.line.text.size() +
               table.row.exit.host.size() + table.row.exit.reason.size() +
               table.row.exit.error_file.size() + (table.traceback ? table.traceback->size() : 0);
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(foreign_);
    saved.number(static_cast<std::int64_t>(tables_.size()));
    for (const auto& [key, table] : tables_) {
      const Row& row = table.row;
      saved.number(key.first);
      saved.text(key.second);
      saved.number(table.root ? 1 : 0);
      saved.number(row.begun ? 1 : 0);
      if (!row.begun) continue;
      row.line.save(saved);
      saved.number(row.time ? 1 : 0);
      saved.number(row.time ? row.time->time_since_epoch().count() : 0);
      saved.text(row.exit.host);
      saved.number(row.exit.ranks.empty() ? -1 : row.exit.ranks.front());
      saved.number(row.exit.local_rank);
      saved.number(row.exit.pid);
      saved.number(row.exit.exit_code ? 1 : 0);
      saved.number(row.exit.exit_code.value_or(0));
      saved.number(row.exit.signal.value_or(0));
      saved.text(row.exit.reason);
      saved.text(row.exit.error_file);
      saved.number(table.traceback ? 1 : 0);
      if (table.traceback) table.traceback->save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    foreign_ = saved.small_number();
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok(); ++i) {
      const int rank = saved.small_number();
      Table& table = tables_[{rank, std::string(saved.text())}];
      Row& row = table.row;
      table.root = saved.number() != 0;
      row.begun = saved.number() != 0;
      if (!row.begun) continue;
      row.line.restore(saved);
      const bool dated = saved.number() != 0;
      const std::int64_t us = saved.number();
      if (dated) row.time = Timestamp(std::chrono::microseconds(us));
      row.exit = {.teller = "torchrun", .first = table.root};
      row.exit.host = saved.text();
      if (const int of = saved.small_number(); of >= 0) row.exit.ranks = {of};
      row.exit.local_rank = saved.small_number();
      row.exit.pid = saved.number();
      const bool coded = saved.number() != 0;
      const int code = saved.small_number();
      if (coded) row.exit.exit_code = code;
      if (const int signal = saved.small_number(); signal != 0) row.exit.signal = signal;
      row.exit.reason = saved.text();
      row.exit.error_file = saved.text();
      if (saved.number() == 0) continue;
      table.traceback = make_python_traceback();
      table.traceback->restore(saved);
    }
  }

 private:
  Line foreign() { return ++foreign_ > kMostForeign ? Line::after : Line::foreign; }

  // A traceback belongs to the rank of the row, no matter which rank prints the table.
  static void name(const Row& row, DocumentReading& told) {
    told.line->host = row.exit.host;
    if (!row.exit.ranks.empty()) told.line->rank = row.exit.ranks.front();
  }

  static bool read_traceback(Table& table, DocumentLine line,
                             std::vector<DocumentReading>& readings) {
    if (line.text.starts_with(kIndent)) line.text.remove_prefix(kIndent.size());
    const std::size_t first = readings.size();
    const Line what = table.traceback->feed(line, readings);
    for (std::size_t i = first; i < readings.size(); ++i) {
      if (!readings[i].line) readings[i].line.emplace().keep(line);
      name(table.row, readings[i]);
    }
    if (what == Line::last || what == Line::after) table.traceback = nullptr;
    return what == Line::part || what == Line::last;
  }

  static bool read_field(std::string_view text, const DocumentLine& line, Row& row) {
    static const Pattern kField(R"(^(time|host|rank|exitcode|error_file|traceback)\s*: (.*)$)");
    static const Pattern kRank(R"(^(-?\d+) \(local_rank: (-?\d+)\))");
    static const Pattern kCode(R"(^(-?\d+) \(pid: (\d+)\))");
    std::string_view name;
    std::string_view value;
    if (!kField.find(text, &name, &value)) return false;
    value = value.substr(0, kMostFieldBytes);
    std::string_view first;
    std::string_view second;
    ProcessExit& exit = row.exit;
    if (name == "time") {
      row.time = stamp_of(value);
    } else if (name == "host") {
      if (names_a_host(value)) exit.host = value;
    } else if (name == "rank" && kRank.find(value, &first, &second)) {
      if (const auto rank = rank_in(first)) exit.ranks = {*rank};
      exit.local_rank = number_in<int>(second).value_or(-1);
    } else if (name == "exitcode" && kCode.find(value, &first, &second)) {
      exit.exit_code = number_in<int>(first);
      if (exit.exit_code && *exit.exit_code < 0 && *exit.exit_code > -128)
        exit.signal = -*exit.exit_code;
      exit.pid = number_in<std::int64_t>(second).value_or(0);
      row.line.keep(line);  // the line that says how the process ended
    } else if (name == "error_file") {
      if (value != "<N/A>") exit.error_file = value;
    } else if (name == "traceback" && !value.starts_with("To enable traceback")) {
      exit.reason = value;
    }
    return true;
  }

  static void give(Table& table, std::vector<DocumentReading>& readings) {
    Row& row = table.row;
    if (table.traceback) {
      const std::size_t first = readings.size();
      table.traceback->finish(readings);
      for (std::size_t i = first; i < readings.size(); ++i)
        if (readings[i].line) name(row, readings[i]);
    }
    if (row.begun && row.exit.exit_code) {
      DocumentReading told;
      told.reading.host = row.exit.host;
      told.reading.time = row.time;
      told.reading.fact = std::move(row.exit);
      told.line = std::move(row.line);
      readings.push_back(std::move(told));
    }
    row = {};
    table.traceback = nullptr;
  }

  std::map<std::pair<int, std::string>, Table> tables_;
  int foreign_ = 0;
};

}  // namespace

bool begins_launcher_table(std::string_view text) {
  text = trimmed(text);
  return text == kFailures || text == kRoot;
}

std::unique_ptr<Document> make_launcher_table() { return std::make_unique<LauncherTable>(); }

}  // namespace faultline
