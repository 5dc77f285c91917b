#include "parsers/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "model/facts/part.h"
#include "parsers/nccl_tests_table.h"
#include "parsers/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kTool = "nccl-tests";
constexpr std::size_t kMostTables = 64;  // at a time: processes that print theirs into one file
constexpr std::size_t kMostHosts = 4096;
constexpr std::size_t kHostsBytes = 240;  // of those that are named
constexpr std::size_t kMostWord = 80;

std::string_view without_hash(std::string_view text) {
  text = trimmed(text);
  take_front(text, "#");
  return trimmed(text);
}

std::optional<std::uint64_t> number_in_front(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// Rank  0 Group  0 Pid   4101 on      gpu-7 device  0 [0x07] NVIDIA A100-SXM4-80GB
struct Device {
  std::string_view host;
  std::string_view gpu;
};

std::optional<Device> device_in(std::string_view text) {
  std::string_view before;
  if (!take_front(text, "Rank ") || !take_until(text, " on ", before)) return std::nullopt;
  const auto rank = words_of(before, 6);
  if (rank.empty() || !is_count(rank.front())) return std::nullopt;
  if (!take_until(text, " device ", before)) return std::nullopt;
  const std::string_view host = trimmed(before);
  if (host.empty() || host.find(' ') != std::string_view::npos) return std::nullopt;
  if (!take_until(text, "[", before) || !is_count(trimmed(before))) return std::nullopt;
  if (!take_until(text, "]", before)) return std::nullopt;
  return Device{host, trimmed(text)};
}

// "Out of bounds values : 0 OK": what follows the colon.
std::optional<std::string_view> summary_in(std::string_view text, std::string_view what) {
  if (!take_front(text, what)) return std::nullopt;
  text = trimmed(text);
  if (!take_front(text, ":")) return std::nullopt;
  text = trimmed(text);
  return text.empty() ? std::nullopt : std::optional(text);
}

constexpr std::string_view kOutOfBounds = "Out of bounds values";
constexpr std::string_view kAverage = "Avg bus bandwidth";

bool is_flags(std::string_view text) {
  return text.starts_with("nThread ") && text.find(" minBytes ") != std::string_view::npos;
}

// One run of one test, as one process prints it.
struct Table {
  std::string spoken_host;  // whose lines these are, by their wrapping
  int spoken_rank = -1;

  std::string program;  // all_reduce_perf
  std::int64_t ranks = 0;
  std::vector<std::string> hosts;  // in the order of ranks
  std::set<std::string, std::less<>> known_hosts;
  std::string gpu;
  bool other_gpus = false;

  NcclTestsLayout layout;
  std::int64_t rows = 0;
  NcclTestsRow largest;
  double smallest = 0;
  double peak = 0;
  std::uint64_t peak_size = 0;
  std::int64_t wrong_rows = 0;
  double wrong_values = 0;
  std::uint64_t first_wrong = 0;
  bool checked = false;
  std::uint64_t stopped_at = 0;
  std::string out_of_bounds;
  std::string average;
  KeptLine largest_line;
  KeptLine wrong_line;

  bool empty() const { return rows == 0 && average.empty() && out_of_bounds.empty(); }
  bool heads_only() const { return empty() && stopped_at == 0; }

  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
  std::size_t size() const;

  void add(const Device& device);
  void add(const NcclTestsRow& row, const DocumentLine& line);
  std::string collective() const;
  std::vector<NamedValue> names() const;
  void give(std::vector<DocumentReading>& readings) const;
};

void save(SavedBytesWriter& saved, double value) { saved.text(fmt::format("{}", value)); }

double restored(SavedBytesReader& saved) {
  const std::string_view text = saved.text();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t restored_size(SavedBytesReader& saved) {
  return static_cast<std::uint64_t>(saved.number());
}

void Table::save(SavedBytesWriter& saved) const {
  saved.text(spoken_host);
  saved.number(spoken_rank);
  saved.text(program);
  saved.number(ranks);
  saved.number(std::ssize(hosts));
  for (const std::string& host : hosts) saved.text(host);
  saved.text(gpu);
  saved.number(other_gpus ? 1 : 0);
  layout.save(saved);
  saved.number(rows);
  saved.number(static_cast<std::int64_t>(largest.size));
  saved.text(largest.redop);
  for (std::size_t group = 0; group < 2; ++group) {
    faultline::save(saved, largest.algbw[group]);
    faultline::save(saved, largest.busbw[group]);
  }
  faultline::save(saved, smallest);
  faultline::save(saved, peak);
  saved.number(static_cast<std::int64_t>(peak_size));
  saved.number(wrong_rows);
  faultline::save(saved, wrong_values);
  saved.number(static_cast<std::int64_t>(first_wrong));
  saved.number(checked ? 1 : 0);
  saved.number(static_cast<std::int64_t>(stopped_at));
  saved.text(out_of_bounds);
  saved.text(average);
  largest_line.save(saved);
  wrong_line.save(saved);
}

void Table::restore(SavedBytesReader& saved) {
  spoken_host = saved.text();
  spoken_rank = saved.small_number();
  program = saved.text();
  ranks = saved.number();
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok() && hosts.size() < kMostHosts; ++i)
    known_hosts.insert(hosts.emplace_back(saved.text()));
  gpu = saved.text();
  other_gpus = saved.number() != 0;
  layout.restore(saved);
  rows = saved.number();
  largest.size = restored_size(saved);
  largest.redop = saved.text();
  for (std::size_t group = 0; group < 2; ++group) {
    largest.algbw[group] = restored(saved);
    largest.busbw[group] = restored(saved);
  }
  smallest = restored(saved);
  peak = restored(saved);
  peak_size = restored_size(saved);
  wrong_rows = saved.number();
  wrong_values = restored(saved);
  first_wrong = restored_size(saved);
  checked = saved.number() != 0;
  stopped_at = restored_size(saved);
  out_of_bounds = saved.text();
  average = saved.text();
  largest_line.restore(saved);
  wrong_line.restore(saved);
}

std::size_t Table::size() const {
  return sizeof *this + hosts.size() * 2 * (sizeof(std::string) + kMostWord) +
         largest_line.text.size() + wrong_line.text.size();
}

void Table::add(const Device& device) {
  ++ranks;
  const std::string_view host = device.host.substr(0, kMostWord);
  if (hosts.size() < kMostHosts && !known_hosts.contains(host))
    known_hosts.insert(hosts.emplace_back(host));
  if (gpu.empty()) gpu = device.gpu.substr(0, kMostWord);
  other_gpus |= gpu != device.gpu.substr(0, kMostWord);
}

void Table::add(const NcclTestsRow& row, const DocumentLine& line) {
  if (!row.measured) {
    stopped_at = row.size;
    return;
  }
  stopped_at = 0;
  ++rows;
  const auto size_here = static_cast<double>(row.size);
  smallest = rows == 1 ? size_here : std::min(smallest, size_here);
  if (rows == 1 || row.size >= largest.size) {
    largest = row;
    largest_line.keep(line);
  }
  if (const double best = std::max(row.busbw[0], row.busbw[1]); best > peak) {
    peak = best;
    peak_size = row.size;
  }
  double wrong = 0;
  for (const auto& count : row.wrong) {
    checked |= count.has_value();
    wrong += std::max(0.0, count.value_or(0));
  }
  if (wrong <= 0) return;
  wrong_values += wrong;
  if (++wrong_rows > 1) return;
  first_wrong = row.size;
  wrong_line.keep(line);
}

// Only an all-reduce moves more over the bus than it is large, and only that is guessed.
std::string Table::collective() const {
  std::string_view name = program;
  if (name.ends_with("_perf")) name.remove_suffix(5);
  if (!name.empty()) return std::string(name);
  constexpr double kMore = 1.1;
  return largest.algbw[0] > 1 && largest.busbw[0] > kMore * largest.algbw[0] ? "all_reduce" : "";
}

std::vector<NamedValue> Table::names() const {
  std::vector<NamedValue> told;
  auto add_name = [&told](std::string_view name, std::string value) {
    if (!value.empty()) told.push_back({std::string(name), std::move(value)});
  };
  add_name("collective", collective());
  if (!other_gpus) add_name("gpu", gpu);
  if (ranks > 0) add_name("ranks", std::to_string(ranks));
  if (!hosts.empty()) add_name("nodes", std::to_string(hosts.size()));
  std::string named;
  for (const std::string& host : hosts) {
    if (named.size() + host.size() >= kHostsBytes) break;
    named += (named.empty() ? "" : ",") + host;
  }
  add_name("hosts", std::move(named));
  return told;
}

void Table::give(std::vector<DocumentReading>& readings) const {
  if (empty()) return;
  auto give_one = [&](PartReport report, const KeptLine& line) {
    Reading reading{.fact = std::move(report), .host = hosts.empty() ? "" : hosts.front()};
    readings.push_back({std::move(reading), line.number > 0 ? std::optional(line) : std::nullopt});
  };
  const bool failed = out_of_bounds.find("FAILED") != std::string::npos ||
                      number_in_front(out_of_bounds).value_or(0) > 0;
  PartReport report{.tool = std::string(kTool), .kind = "bandwidth_test", .names = names()};
  auto value = [&report](std::string_view name, std::string text) {
    if (!text.empty()) report.values.push_back({std::string(name), std::move(text)});
  };
  if (wrong_rows > 0 || failed) {
    report.kind = "results_check";
    value("wrong rows", std::to_string(wrong_rows));
    value("wrong values", fmt::format("{}", wrong_values));
    if (first_wrong > 0) value("first wrong size", std::to_string(first_wrong));
    value("out of bounds", out_of_bounds);
    give_one(std::move(report), wrong_line);
    report = {.tool = std::string(kTool), .kind = "bandwidth_test", .names = names()};
  }
  if (rows > 0) {
    report.names.push_back({"largest size", std::to_string(largest.size)});
    value("busbw", fmt::format("{}", std::max(largest.busbw[0], largest.busbw[1])));
    value("busbw out of place", fmt::format("{}", largest.busbw[0]));
    if (largest.busbw[1] > 0) value("busbw in place", fmt::format("{}", largest.busbw[1]));
    value("peak busbw", fmt::format("{}", peak));
    value("peak size", std::to_string(peak_size));
    value("smallest size", fmt::format("{:.0f}", smallest));
    value("rows", std::to_string(rows));
    // Where no column counts, the summary is what tells.
    const bool told = layout.wrong[0] < 0 && out_of_bounds.ends_with("OK");
    value("checked", checked || told ? "yes" : "no");
  }
  value("average busbw", average);
  value("out of bounds", out_of_bounds);
  if (stopped_at > 0) value("stopped at size", std::to_string(stopped_at));
  value("ended", average.empty() ? "no" : "yes");
  give_one(std::move(report), largest_line.number > 0 ? largest_line : wrong_line);
}

class NcclTests : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = without_hash(line.text);
    if (text.empty()) return Line::foreign;
    const Line what = read(text, line, readings);
    return what == Line::part && tables_.empty() ? Line::last : what;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (const Table& table : tables_) table.give(readings);
    tables_.clear();
  }

  std::string_view dialect() const override { return kTool; }

  std::size_t size() const override {
    std::size_t bytes = sizeof *this;
    for (const Table& table : tables_) bytes += table.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(std::ssize(tables_));
    for (const Table& table : tables_) table.save(saved);
  }
  void restore(SavedBytesReader& saved) override {
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && tables_.size() < kMostTables; ++i)
      tables_.emplace_back().restore(saved);
  }

 private:
  Line read(std::string_view text, const DocumentLine& line,
            std::vector<DocumentReading>& readings) {
    if (read_head(text, line, readings)) return Line::part;
    if (const auto head = nccl_tests_layout(text)) {
      Table& table = table_for(line, readings, true);
      table.layout = *head;
      return Line::part;
    }
    if (text.front() >= '0' && text.front() <= '9')
      return read_row(text, line, readings) ? Line::part : Line::foreign;
    if (const auto value = summary_in(text, kOutOfBounds)) {
      if (!number_in_front(*value)) return Line::foreign;
      Table& table = table_for(line, readings, false);
      table.out_of_bounds = value->substr(0, kMostWord);
      if (table.wrong_line.number == 0) table.wrong_line.keep(line);
      return Line::part;
    }
    if (const auto value = summary_in(text, kAverage)) {
      if (!number_in_front(*value) || line.cut) return Line::foreign;
      Table& table = table_for(line, readings, false);
      table.average = value->substr(0, kMostWord);
      if (table.largest_line.number == 0) table.largest_line.keep(line);
      close(table, readings);
      return Line::part;
    }
    return Line::foreign;
  }

  // What stands above the table. The first of these lines begins another run.
  bool read_head(std::string_view text, const DocumentLine& line,
                 std::vector<DocumentReading>& readings) {
    std::string_view rest = text;
    if (take_front(rest, "Collective test starting: ")) {
      Table& table = table_for(line, readings, true);
      table.program = trimmed(rest).substr(0, kMostWord);
      return true;
    }
    if (is_flags(text)) {
      Table& table = table_for(line, readings, true);
      if (table.ranks > 0)
        table = {.spoken_host = table.spoken_host,
                 .spoken_rank = table.spoken_rank,
                 .program = table.program};
      return true;
    }
    if (const auto device = device_in(text)) {
      table_for(line, readings, true).add(*device);
      return true;
    }
    if (text.starts_with("nccl-tests version ") || text == "Using devices" ||
        text.starts_with("NCCL Tests compiled with NCCL ")) {
      table_for(line, readings, true);
      return true;
    }
    return false;
  }

  bool read_row(std::string_view text, const DocumentLine& line,
                std::vector<DocumentReading>& readings) {
    Table* table = find(line);
    NcclTestsLayout layout = table != nullptr ? table->layout : NcclTestsLayout{};
    if (!layout.known()) {
      const auto guessed = guessed_nccl_tests_layout(text);
      if (!guessed) return false;
      layout = *guessed;
    }
    // Of a row that the end of the source cuts off, the last column may lack digits.
    const auto row = nccl_tests_row(layout, text);
    if (!row || (line.cut && row->measured)) return false;
    if (table == nullptr) table = &table_for(line, readings, false);
    table->layout = layout;
    table->add(*row, line);
    return true;
  }

  Table* find(const DocumentLine& line) {
    const auto found = std::ranges::find_if(tables_, [&](const Table& table) {
      return table.spoken_rank == line.rank && table.spoken_host == line.host;
    });
    return found == tables_.end() ? nullptr : &*found;
  }

  // heads: the line stands above a table; one that has rows is over then.
  Table& table_for(const DocumentLine& line, std::vector<DocumentReading>& readings, bool heads) {
    Table* table = find(line);
    if (table != nullptr && heads && !table->heads_only()) {
      close(*table, readings);
      table = nullptr;
    }
    if (table != nullptr) return *table;
    if (tables_.size() == kMostTables) close(tables_.front(), readings);
    return tables_.emplace_back(
        Table{.spoken_host = std::string(line.host), .spoken_rank = line.rank});
  }

  void close(Table& table, std::vector<DocumentReading>& readings) {
    table.give(readings);
    tables_.erase(tables_.begin() + (&table - tables_.data()));
  }

  std::vector<Table> tables_;
};

}  // namespace

bool begins_nccl_tests(std::string_view text) {
  text = without_hash(text);
  if (text.empty()) return false;
  switch (text.front()) {
    case 'n':
      return text.starts_with("nccl-tests version ") || is_flags(text);
    case 'C':
      return text.starts_with("Collective test starting: ");
    case 'N':
      return text.starts_with("NCCL Tests compiled with NCCL ");
    case 'R':
      return device_in(text).has_value();
    case 'O':
      return summary_in(text, kOutOfBounds).has_value();
    case 'A':
      return summary_in(text, kAverage).has_value();
    case 's':
    case 'b':
    case 't':
      return nccl_tests_layout(text).has_value();
    default: {
      // Times and addresses begin with digits, too, but not with two numbers.
      const std::size_t number = text.find_first_not_of("0123456789");
      if (number == 0 || number == std::string_view::npos || text[number] != ' ') return false;
      const std::size_t next = text.find_first_not_of(' ', number);
      return text[next] >= '0' && text[next] <= '9' && guessed_nccl_tests_layout(text).has_value();
    }
  }
}

std::unique_ptr<Document> make_nccl_tests() { return std::make_unique<NcclTests>(); }

}  // namespace faultline
