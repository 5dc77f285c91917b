#include "parsers/torch/horovod.h"

#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/listed_ranks.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

using tool_text::trimmed;

constexpr std::size_t kMostNameBytes = 256;
constexpr int kMostForeign = 16;

// Up to 0.19 the missing ranks are called stalled.
bool is_title(std::string_view text) {
  text = trimmed(text);
  return text == "Missing ranks:" || text == "Stalled ranks:";
}

struct Row {
  int rank = -1;
  std::string_view tensor;  // the first of them
};

// 3!: [a, b ...]; the mark says that Horovod ends the job because of it. "3: " looks like a label
// of srun and may have been taken off; then the rank is that of the line.
bool read_row(const DocumentLine& line, Row& row) {
  static const Pattern kRow(R"(^(?:(\d{1,6})!?: )?\[([^\[\]]+)\]$)");
  std::string_view number;
  std::string_view tensors;
  if (!kRow.find(trimmed(line.text), &number, &tensors)) return false;
  row.rank = number.empty() ? line.rank : rank_in(number).value_or(-1);
  row.tensor = tensors.substr(0, std::min(tensors.find(", "), kMostNameBytes));
  return row.rank >= 0;
}

class StalledRanks : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    if (is_title(line.text)) {
      list_.give(readings);
      return Line::part;
    }
    if (trimmed(line.text).empty()) return Line::part;
    Row row;
    if (line.cut || !read_row(line, row)) {
      // Lines of other processes may stand within the list.
      if (++list_.foreign <= kMostForeign) return Line::foreign;
      return Line::after;
    }
    if (list_.entry.ranks.empty()) {
      list_.first.keep(line);
      list_.entry.what = "not_submitted";
      list_.entry.operation = row.tensor;
    }
    list_.add(row.rank);
    list_.foreign = 0;
    return Line::part;
  }

  void finish(std::vector<DocumentReading>& readings) override { list_.give(readings); }

  std::string_view dialect() const override { return "horovod"; }

  std::size_t size() const override { return list_.size(); }
  void save(SavedBytesWriter& saved) const override { list_.save(saved); }
  void restore(SavedBytesReader& saved) override { list_.restore(saved); }

 private:
  ListedRanks list_;
};

}  // namespace

bool parse_missing_ranks(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kMissing(R"(([^\s:\[\]]+) \[missing ranks: ?(\d[\d, ]*)\])");
  std::string_view tensor;
  std::string_view ranks;
  if (!kMissing.find(text, &tensor, &ranks)) return false;
  DesyncEntry entry{.ranks = rank_list(ranks), .what = "not_submitted"};
  if (entry.ranks.empty()) return false;
  entry.operation = tensor.substr(0, kMostNameBytes);
  readings.push_back({.fact = std::move(entry)});
  return true;
}

bool begins_stalled_ranks(std::string_view text) { return is_title(text); }

std::unique_ptr<Document> make_stalled_ranks() { return std::make_unique<StalledRanks>(); }

}  // namespace faultline
