#include "parsers/launcher/hydra_table.h"

#include "parsers/launcher/launcher_lines.h"
#include "parsers/pattern.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

constexpr std::size_t kLongestHost = 256;

struct NamedProcess {
  int rank = -1;
  std::int64_t pid = 0;
  std::string host;
};

std::optional<NamedProcess> process_in(std::string_view text) {
  static const Pattern kProcess(R"(^\s*=\s+(?:RANK (\d+) )?PID (\d+) RUNNING AT (\S+))");
  std::string_view rank;
  std::string_view pid;
  std::string_view host;
  if (text.find(" RUNNING AT ") == std::string_view::npos ||
      !kProcess.find(text, &rank, &pid, &host))
    return std::nullopt;
  return NamedProcess{.rank = rank_in(rank).value_or(-1),
                      .pid = number_in<std::int64_t>(pid).value_or(0),
                      .host = std::string(host.substr(0, kLongestHost))};
}

class HydraTable : public Document {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    if (!process_) {
      process_ = process_in(line.text);
      if (!process_) return Line::after;
      name_.keep(line);
      return Line::part;
    }
    static const Pattern kCode(R"(^\s*=\s+EXIT CODE: (\d+)\s*$)");
    // EXIT CODE: 9 may be an exit code or a signal; these lines name the signal.
    static const Pattern kSignal(R"((?:KILLED BY SIGNAL: |EXIT STRING: .*\(signal )(\d+))");
    std::string_view number;
    if (kCode.find(line.text, &number)) {
      // If the line was cut, the last digit may be missing.
      if (!line.cut) code_ = number_in<int>(number);
      return Line::part;
    }
    if (kSignal.find(line.text, &number)) {
      signal_ = number_in<int>(number);
      give(readings);
      return Line::last;
    }
    if (is_row(line.text)) return Line::part;
    give(readings);
    return Line::after;
  }

  void finish(std::vector<DocumentReading>& readings) override {
    if (process_) give(readings);
  }

  std::string_view dialect() const override { return "hydra"; }
  std::size_t size() const override { return sizeof *this + name_.text.size(); }

  void save(SavedBytesWriter& saved) const override {
    saved.number(process_ ? 1 : 0);
    if (!process_) return;
    saved.number(code_ ? 1 : 0);
    saved.number(code_.value_or(0));
    name_.save(saved);
  }
  void restore(SavedBytesReader& saved) override {
    if (saved.number() == 0) return;
    const bool has_code = saved.number() != 0;
    const int code = saved.small_number();
    if (has_code) code_ = code;
    name_.restore(saved);
    process_ = process_in(name_.text);
  }

 private:
  static bool is_row(std::string_view text) {
    static const Pattern kRow(R"(^\s*=(?:\s+\w|=+\s*$))");
    return kRow.find(text) && !process_in(text);
  }

  void give(std::vector<DocumentReading>& readings) {
    ProcessExit exit{.teller = "hydra",
                     .host = process_->host,
                     .pid = process_->pid,
                     .reason = "bad termination",
                     .first = true};
    if (process_->rank >= 0) exit.ranks = {process_->rank};
    if (code_) set_exit_code(exit, *code_);
    if (signal_) exit.signal = signal_;
    readings.push_back({Reading{.fact = std::move(exit)}, std::move(name_)});
    process_.reset();
  }

  std::optional<NamedProcess> process_;
  std::optional<int> code_;
  std::optional<int> signal_;
  KeptLine name_;
};

}  // namespace

bool begins_hydra_table(std::string_view text) { return process_in(text).has_value(); }

std::unique_ptr<Document> make_hydra_table() { return std::make_unique<HydraTable>(); }

}  // namespace faultline
