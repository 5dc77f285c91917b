#include "parsers/performance/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "parsers/performance/nccl_tests_run.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kTool = "nccl-tests";
constexpr std::size_t kMostTables = 64;  // open at a time: processes may print into one file
constexpr std::size_t kMostWord = NcclTestsRun::kMostWord;

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

class NcclTests : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = without_hash(line.text);
    if (text.empty()) return Line::foreign;
    const Line what = read(text, line, readings);
    return what == Line::part && tables_.empty() ? Line::last : what;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    for (const NcclTestsRun& table : tables_) table.give(readings);
    tables_.clear();
  }

  std::string_view dialect() const override { return kTool; }

  std::size_t size() const override {
    std::size_t bytes = sizeof *this;
    for (const NcclTestsRun& table : tables_) bytes += table.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(std::ssize(tables_));
    for (const NcclTestsRun& table : tables_) table.save(saved);
    for (const NcclTestsRun& table : tables_) table.save_added(saved);
    for (const NcclTestsRun& table : tables_) table.save_added_later(saved);
  }
  void restore(SavedBytesReader& saved) override {
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && tables_.size() < kMostTables; ++i)
      tables_.emplace_back().restore(saved);
    if (saved.at_end()) return;  // saved by a version that did not have the rest
    for (NcclTestsRun& table : tables_) table.restore_added(saved);
    if (saved.at_end()) return;
    for (NcclTestsRun& table : tables_) table.restore_added_later(saved);
  }

 private:
  Line read(std::string_view text, const DocumentLine& line,
            std::vector<DocumentReading>& readings) {
    if (read_head(text, line, readings)) return Line::part;
    if (const auto head = nccl_tests_layout(text)) {
      NcclTestsRun& table = table_for(line, readings, true);
      table.layout = *head;
      return Line::part;
    }
    if (text.front() >= '0' && text.front() <= '9')
      return read_row(text, line, readings) || read_times(text, line) ? Line::part : Line::foreign;
    if (const auto value = summary_in(text, kOutOfBounds)) {
      if (!number_in_front(*value)) return Line::foreign;
      NcclTestsRun& table = table_for(line, readings, false);
      table.out_of_bounds = value->substr(0, kMostWord);
      if (table.wrong_line.number == 0) table.wrong_line.keep(line);
      return Line::part;
    }
    if (const auto value = summary_in(text, kAverage)) {
      if (!number_in_front(*value) || line.cut) return Line::foreign;
      NcclTestsRun& table = table_for(line, readings, false);
      table.average = value->substr(0, kMostWord);
      if (table.largest_line.number == 0) table.largest_line.keep(line);
      close(table, readings);
      return Line::part;
    }
    return Line::foreign;
  }

  // The lines above a table. The first of them begins a new run.
  bool read_head(std::string_view text, const DocumentLine& line,
                 std::vector<DocumentReading>& readings) {
    std::string_view rest = text;
    if (take_front(rest, "Collective test starting: ")) {
      NcclTestsRun& table = table_for(line, readings, true);
      table.program = trimmed(rest).substr(0, kMostWord);
      return true;
    }
    if (is_flags(text)) {
      NcclTestsRun& table = table_for(line, readings, true);
      if (table.ranks > 0) {
        NcclTestsRun next = {.spoken_host = table.spoken_host,
                             .spoken_rank = table.spoken_rank,
                             .program = table.program};
        next.comes_after(std::move(table));
        table = std::move(next);
      }
      return true;
    }
    if (const auto device = device_in(text)) {
      NcclTestsRun& table = table_for(line, readings, true);
      table.add_device(device->host, device->gpu);
      table.device_line.keep(line);
      return true;
    }
    if (text.starts_with("nccl-tests version ") || text == "Using devices" ||
        text.starts_with("NCCL Tests compiled with NCCL ")) {
      table_for(line, readings, true);
      return true;
    }
    return false;
  }

  // False: the line, or the rest of it after a row, belongs to something else.
  bool read_row(std::string_view text, const DocumentLine& line,
                std::vector<DocumentReading>& readings) {
    NcclTestsRun* table = find(line);
    NcclTestsLayout layout = table != nullptr ? table->layout : NcclTestsLayout{};
    if (!layout.known()) {
      const auto guessed = guessed_nccl_tests_layout(text);
      if (!guessed) return false;
      layout = *guessed;
    }
    // If the end of the source cuts a row, its last column may lack digits.
    const auto row = nccl_tests_row(layout, text);
    if (!row || (line.cut && row->measured)) return false;
    if (table == nullptr) table = &table_for(line, readings, false);
    table->layout = layout;
    table->add(*row, line);
    return !row->torn;
  }

  // Reads the times of a row that has only its first columns yet.
  bool read_times(std::string_view text, const DocumentLine& line) {
    NcclTestsRun* table = find(line);
    if (table == nullptr || table->stopped_at == 0 || line.cut) return false;
    const auto times = nccl_tests_times(table->stopped_at, text);
    if (!times) return false;
    table->add(*times, line);
    return !times->torn;
  }

  NcclTestsRun* find(const DocumentLine& line) {
    const auto found = std::ranges::find_if(tables_, [&](const NcclTestsRun& table) {
      return table.spoken_rank == line.rank && table.spoken_host == line.host;
    });
    return found == tables_.end() ? nullptr : &*found;
  }

  // heads: the line stands above a table, so a table that has rows is over.
  NcclTestsRun& table_for(const DocumentLine& line, std::vector<DocumentReading>& readings,
                          bool heads) {
    NcclTestsRun* table = find(line);
    NcclTestsRun next{.spoken_host = std::string(line.host), .spoken_rank = line.rank};
    if (table != nullptr && heads && !table->heads_only()) {
      table->give(readings);
      next.comes_after(std::move(*table));
      remove(*table);
      table = nullptr;
    }
    if (table != nullptr) return *table;
    if (tables_.size() == kMostTables) close(tables_.front(), readings);
    return tables_.emplace_back(std::move(next));
  }

  void close(NcclTestsRun& table, std::vector<DocumentReading>& readings) {
    table.give(readings);
    remove(table);
  }

  void remove(const NcclTestsRun& table) {
    tables_.erase(tables_.begin() + (&table - tables_.data()));
  }

  std::vector<NcclTestsRun> tables_;
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
    case 'S':
    case 'b':
    case 'B':
    case 'm':
    case 'M':
    case 't':
      return nccl_tests_layout(text).has_value();
    default: {
      // Times and addresses begin with digits too, but not with two numbers.
      const std::size_t number = text.find_first_not_of("0123456789");
      if (number == 0 || number == std::string_view::npos || text[number] != ' ') return false;
      const std::size_t next = text.find_first_not_of(' ', number);
      return text[next] >= '0' && text[next] <= '9' && guessed_nccl_tests_layout(text).has_value();
    }
  }
}

std::unique_ptr<Document> make_nccl_tests() { return std::make_unique<NcclTests>(); }

}  // namespace faultline
