#include "service/lines_around.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "ingest/kept_lines.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfLine = 4096;

class Shower : public KeptLinesVisitor {
 public:
  Shower(std::uint64_t first, std::uint64_t last) : first_(first), last_(last) {}

  // What comes next stands behind so many lines.
  void begin(const KeptLines& kept) {
    if (began_ && kept.lines_before > lines_)
      show(kept.follows ? ShownLines::What::calls : ShownLines::What::not_kept,
           kept.lines_before - lines_);
    if (!began_ || kept.lines_before != lines_) open_.reset();
    lines_ = kept.lines_before;
    began_ = true;
  }

  std::vector<ShownLines> take() { return std::move(shown_); }

  void text(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      if (!open_) open_.emplace();
      if (is_wanted(lines_ + 1))
        open_->append(
            bytes.substr(0, std::min(newline, kMostOfLine - std::min(open_->size(), kMostOfLine))));
      if (newline == std::string_view::npos) return;
      end_line();
      bytes.remove_prefix(newline + 1);
    }
  }

  void rest(std::string_view bytes) override {
    if (open_) return text(bytes);
    if (std::exchange(is_counted_, false)) return;  // it was shown as far as it had come
    if (bytes.ends_with('\n')) show(ShownLines::What::not_kept, 1);
  }

  void hidden_line(std::string_view line, std::uint64_t /*bytes*/) override {
    text(line);
    text("\n");
  }

  void blank(std::uint64_t lines) override {
    for (; lines > 0; --lines) text("\n");
  }

  void calls(LineSpan span) override { show(ShownLines::What::calls, span.lines); }

  void passed(LineSpan span) override {
    open_.reset();
    show(ShownLines::What::not_kept, span.lines);
  }

  void begin_body(Timestamp /*received*/) override {}
  void begin_file() override {
    end_open_line();
    is_counted_ = false;
  }
  void set_boot_time(Timestamp /*boot_time*/) override {}
  void settle() override {}
  void finish() override {}
  void close() override { end_open_line(); }

 private:
  bool is_wanted(std::uint64_t line) const { return line >= first_ && line <= last_; }

  // Nothing was to follow, but something may.
  void end_open_line() {
    is_counted_ = open_.has_value();
    if (open_) end_line();
  }

  void end_line() {
    ++lines_;
    if (is_wanted(lines_)) {
      while (open_->ends_with('\r')) open_->pop_back();
      shown_.push_back({ShownLines::What::line, lines_, lines_, std::move(*open_)});
    }
    open_.reset();
  }

  void show(ShownLines::What what, std::uint64_t lines) {
    const std::uint64_t from = std::max(lines_ + 1, first_);
    const std::uint64_t to = std::min(lines_ + lines, last_);
    lines_ += lines;
    if (from > to) return;
    if (!shown_.empty() && shown_.back().what == what && shown_.back().last + 1 == from)
      shown_.back().last = to;
    else
      shown_.push_back({what, from, to, {}});
  }

  std::uint64_t first_;
  std::uint64_t last_;
  bool began_ = false;
  std::uint64_t lines_ = 0;          // before what comes next
  std::optional<std::string> open_;  // the line that it goes on with
  bool is_counted_ = false;          // the line that may go on
  std::vector<ShownLines> shown_;
};

}  // namespace

std::vector<ShownLines> lines_around(Store& store, const std::string& job,
                                     const std::string& source, std::uint64_t line,
                                     std::uint64_t around) {
  const std::uint64_t first = line - std::min(line - 1, around);
  Shower shower(first, line + around);
  for (const KeptLines& kept : store.kept_lines(job, source, first, line + around)) {
    shower.begin(kept);
    if (!read_kept_lines(kept.content, shower)) break;  // it is damaged
  }
  return shower.take();
}

}  // namespace faultline
