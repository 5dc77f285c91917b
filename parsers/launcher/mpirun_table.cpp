#include "parsers/launcher/mpirun_table.h"

#include "parsers/launcher/launcher_lines.h"
#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

constexpr int kMostForeign = 8;  // foreign lines between the two lines

std::optional<int> rank_of_process(std::string_view text) {
  static const Pattern kName(
      R"(^\s*Process name: \[\S*?,\d+\],(\d+)\]|^\s*Process name: \[\S+@\d+,(\d+)\])");
  std::string_view rank;
  std::string_view other;
  if (!kName.find(text, &rank, &other)) return std::nullopt;
  return rank_in(rank.empty() ? other : rank);
}

class MpirunTable : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    if (!begun_) {
      const auto rank = rank_of_process(line.text);
      if (!rank) return Line::after;
      begun_ = true;
      rank_ = *rank;
      name_.keep(line);
      return Line::part;
    }
    std::string_view text = tool_text::trimmed(line.text);
    if (tool_text::take_front(text, "Exit code:")) {
      const auto code = number_in<int>(tool_text::trimmed(text));
      if (!line.cut) code_ = code;  // its last digit may be missing
      give(readings);
      return Line::last;
    }
    if (text.starts_with("-----") || ++foreign_ > kMostForeign) {
      give(readings);
      return Line::after;
    }
    return Line::foreign;
  }

  void finish(std::vector<DocumentReading>& readings) override { give(readings); }

  std::string_view dialect() const override { return "mpirun"; }
  std::size_t size() const override { return sizeof *this + name_.text.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(begun_ ? 1 : 0);
    saved.number(rank_);
    saved.number(foreign_);
    name_.save(saved);
  }
  void restore(SavedBytesReader& saved) override {
    begun_ = saved.number() != 0;
    rank_ = saved.small_number();
    foreign_ = saved.small_number();
    name_.restore(saved);
  }

 private:
  void give(std::vector<DocumentReading>& readings) {
    if (!begun_) return;
    begun_ = false;
    ProcessExit exit{.teller = "mpirun", .reason = "non-zero status", .first = true};
    if (rank_ >= 0) exit.ranks = {rank_};
    if (code_) set_exit_code(exit, *code_);
    Reading reading{.fact = std::move(exit)};
    readings.push_back({std::move(reading), std::move(name_)});
  }

  bool begun_ = false;
  int rank_ = -1;
  int foreign_ = 0;
  std::optional<int> code_;
  KeptLine name_;
};

}  // namespace

bool begins_mpirun_table(std::string_view text) { return rank_of_process(text).has_value(); }

std::unique_ptr<Document> make_mpirun_table() { return std::make_unique<MpirunTable>(); }

}  // namespace faultline
