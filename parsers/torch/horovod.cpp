#include "parsers/torch/horovod.h"

#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

using tool_text::trimmed;

constexpr std::size_t kMostNameBytes = 256;
constexpr int kMostForeign = 16;
constexpr std::size_t kMostRanks = 65536;

// Up to 0.19 it calls stalled whom it waits for.
bool is_title(std::string_view text) {
  text = trimmed(text);
  return text == "Missing ranks:" || text == "Stalled ranks:";
}

struct Row {
  int rank = -1;
  std::string_view tensor;  // the first of them
};

// 3!: [a, b ...]; the mark says that Horovod ends the job for it. What stands behind a rank and a
// colon looks like a label of srun's, and may have been taken for one.
bool read_row(const DocumentLine& line, Row& row) {
  static const Pattern kRow(R"(^(?:(\d{1,6})!?: )?\[([^\[\]]+)\]$)");
  std::string_view number;
  std::string_view tensors;
  if (!kRow.find(trimmed(line.text), &number, &tensors)) return false;
  row.rank = number.empty() ? line.rank : number_in<int>(number).value_or(-1);
  row.tensor = tensors.substr(0, std::min(tensors.find(", "), kMostNameBytes));
  return row.rank >= 0;
}

class StalledRanks : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    if (is_title(line.text)) {
      give(readings);
      return Line::part;
    }
    if (trimmed(line.text).empty()) return Line::part;
    Row row;
    if (line.cut || !read_row(line, row)) {
      // A list is printed in one go, among lines of others.
      if (++foreign_ <= kMostForeign) return Line::foreign;
      return Line::after;
    }
    if (list_.ranks.empty()) {
      first_.keep(line);
      list_.operation = row.tensor;
    }
    if (list_.ranks.size() < kMostRanks) list_.ranks.push_back(row.rank);
    foreign_ = 0;
    return Line::part;
  }

  void finish(std::vector<DocumentReading>& readings) override { give(readings); }

  std::string_view dialect() const override { return "horovod"; }

  std::size_t size() const override {
    return list_.ranks.size() * sizeof(int) + list_.operation.size() + first_.text.size();
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(foreign_);
    saved.text(list_.operation);
    saved.number(static_cast<std::int64_t>(list_.ranks.size()));
    for (const int rank : list_.ranks) saved.number(rank);
    first_.save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    foreign_ = saved.small_number();
    list_.operation = saved.text();
    const std::int64_t ranks = saved.number();
    for (std::int64_t i = 0; i < ranks && saved.ok(); ++i)
      list_.ranks.push_back(saved.small_number());
    first_.restore(saved);
  }

 private:
  void give(std::vector<DocumentReading>& readings) {
    if (!list_.ranks.empty()) {
      list_.what = "not_submitted";
      readings.push_back({.reading = {.fact = std::move(list_)}, .line = std::move(first_)});
    }
    list_ = {};
    first_ = {};
    foreign_ = 0;
  }

  DesyncEntry list_;
  KeptLine first_;   // of its rows
  int foreign_ = 0;  // lines since the last of its own
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
