#include "parsers/torch/fr_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::size_t kMostColumns = 1024;

// "Rank 0      Rank 1": the ranks of two columns or more. Empty: the line is something else.
std::vector<int> ranks_of_heading(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty() && ranks.size() < kMostColumns) {
    if (!take_front(text, "Rank ")) return {};
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto rank = rank_in(text.substr(0, digits));
    if (!rank) return {};
    ranks.push_back(*rank);
    text.remove_prefix(digits);
    if (!text.empty() && !text.starts_with("  ")) return {};
    text = trimmed(text);
  }
  return ranks.size() > 1 ? ranks : std::vector<int>();
}

// Where the columns begin; empty: the line is not a ruler.
std::vector<std::size_t> columns_of(std::string_view ruler) {
  std::vector<std::size_t> columns;
  if (ruler.find_first_not_of("- ") != ruler.npos) return columns;
  for (std::size_t at = ruler.find('-'); at != ruler.npos; at = ruler.find('-', at)) {
    columns.push_back(at);
    at = std::min(ruler.find(' ', at), ruler.size());
  }
  return columns;
}

// A call without its state, which depends on when the rank was dumped.
std::string_view call_in(std::string_view cell) {
  return trimmed(cell.substr(0, cell.find(", state=")));
}

// The column of a rank. The calls themselves are not kept, only whether those of all ranks agree
// (differs_).
struct Column {
  int rank = -1;
  std::size_t begin = 0;
  std::size_t calls = 0;
};

class RecorderTable : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::string_view text = line.text;
    if (columns_.empty()) return read_heading(line);
    if (!has_ruler()) return read_ruler(text);
    if (line.cut || !read_row(text)) {
      finish(readings);
      columns_.clear();
      return Line::after;
    }
    return Line::part;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    if (columns_.empty() || differs_) return;
    const auto [least, most] = std::ranges::minmax(columns_, {}, &Column::calls);
    if (least.calls == most.calls) return;
    DesyncEntry behind{
        .ranks = {}, .what = "not_entered", .sequence = least.calls + 1, .operation = next_};
    DesyncEntry others = behind;
    others.what = "entered";
    for (const Column& column : columns_)
      (column.calls == least.calls ? behind : others).ranks.push_back(column.rank);
    for (DesyncEntry* entry : {&behind, &others})
      readings.push_back({.reading = {.fact = std::move(*entry)}, .line = heading_});
  }

  std::string_view dialect() const override { return "torch"; }

  std::size_t size() const override {
    return columns_.size() * sizeof(Column) + heading_.text.size() + next_.size();
  }

  void save(SavedBytesWriter& saved) const override {
    heading_.save(saved);
    saved.text(next_);
    saved.number(differs_ ? 1 : 0);
    saved.number(std::ssize(columns_));
    for (const Column& column : columns_) {
      saved.number(column.rank);
      saved.number(static_cast<std::int64_t>(column.begin));
      saved.number(static_cast<std::int64_t>(column.calls));
    }
  }

  void restore(SavedBytesReader& saved) override {
    heading_.restore(saved);
    next_ = saved.text();
    differs_ = saved.number() != 0;
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && columns_.size() < kMostColumns; ++i) {
      Column& column = columns_.emplace_back();
      column.rank = saved.small_number();
      column.begin = static_cast<std::size_t>(saved.number());
      column.calls = static_cast<std::size_t>(saved.number());
    }
  }

 private:
  // Once the ruler was read, only the first column begins at 0.
  bool has_ruler() const { return columns_.back().begin > 0; }

  Line read_heading(const DocumentLine& line) {
    for (const int rank : ranks_of_heading(trimmed(line.text))) columns_.push_back({.rank = rank});
    heading_.keep(line);
    return columns_.empty() ? Line::after : Line::part;
  }

  Line read_ruler(std::string_view text) {
    const std::vector<std::size_t> begins = columns_of(text);
    if (begins.size() != columns_.size()) return Line::after;
    for (std::size_t i = 0; i < begins.size(); ++i) columns_[i].begin = begins[i];
    return Line::part;
  }

  // A rank with fewer calls has blank cells in the last rows.
  bool read_row(std::string_view text) {
    std::optional<std::string_view> call;
    std::vector<Column*> calling;
    std::size_t short_ones = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t begin = columns_[i].begin;
      const std::size_t end = i + 1 < columns_.size() ? columns_[i + 1].begin : text.npos;
      const std::string_view cell =
          begin < text.size() ? trimmed(text.substr(begin, end - begin)) : std::string_view();
      if (cell.empty()) {
        ++short_ones;
        continue;
      }
      if (cell.find('(') == cell.npos || !cell.ends_with(')')) return false;
      if (call && *call != call_in(cell)) differs_ = true;
      call = call_in(cell);
      calling.push_back(&columns_[i]);
    }
    if (!call) return false;
    if (short_ones > 0 && next_.empty()) next_ = call->substr(0, call->find('('));
    for (Column* column : calling) ++column->calls;
    return true;
  }

  std::vector<Column> columns_;
  KeptLine heading_;
  std::string next_;  // the first call that some ranks have not made
  bool differs_ = false;
};

}  // namespace

bool begins_fr_table(std::string_view text) {
  text = trimmed(text);
  return text.starts_with("Rank ") && !ranks_of_heading(text).empty();
}

std::unique_ptr<Document> make_fr_table() { return std::make_unique<RecorderTable>(); }

}  // namespace faultline
