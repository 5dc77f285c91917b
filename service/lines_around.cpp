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

  // `kept` is read next; kept.lines_before lines of the source stand before it.
  void begin(const KeptLines& kept) {
    if (kept.lines_before > lines_)
      show(kept.follows && began_ ? ShownLines::What::calls : ShownLines::What::not_kept,
           kept.lines_before - lines_);
    if (!began_ || kept.lines_before != lines_) open_.reset();
    lines_ = kept.lines_before;
    began_ = true;
  }

  // `lines`: how many the source has in all. Lines behind the last kept one are shown as `behind`.
  std::vector<ShownLines> take(std::uint64_t lines, ShownLines::What behind) {
    end_open_line();
    if (lines > lines_) show(behind, lines - lines_);
    return std::move(shown_);
  }

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

  void rest(std::string_view bytes, bool counted) override {
    if (open_) return text(bytes);
    // A line that was counted already was shown as far as it had come.
    if (bytes.ends_with('\n') && !counted) show(ShownLines::What::not_kept, 1);
  }

  void hidden_line(std::string_view line, std::uint64_t /*bytes*/) override {
    text(line);
    text("\n");
  }

  void blank(std::uint64_t lines) override {
    if (lines > 0 && open_) {
      end_line();
      --lines;
    }
    for (std::uint64_t line = std::max(lines_ + 1, first_); line <= std::min(lines_ + lines, last_);
         ++line)
      shown_.push_back({ShownLines::What::line, line, line, {}});
    lines_ += lines;
  }

  void calls(LineSpan span) override { show(ShownLines::What::calls, span.lines); }

  void passed(LineSpan span) override {
    open_.reset();
    show(ShownLines::What::not_kept, span.lines);
  }

  void begin_body(Timestamp /*received*/) override {}
  void begin_file() override { end_open_line(); }
  void set_boot_time(Timestamp /*boot_time*/) override {}
  void settle() override {}
  void finish() override {}
  void close() override { end_open_line(); }

 private:
  bool is_wanted(std::uint64_t line) const { return line >= first_ && line <= last_; }

  void end_open_line() {
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
  std::uint64_t lines_ = 0;          // before the text that comes next
  std::optional<std::string> open_;  // the line that has not ended yet
  std::vector<ShownLines> shown_;
};

}  // namespace

std::vector<ShownLines> lines_around(Store& store, const std::string& job,
                                     const std::string& source, std::uint64_t line,
                                     std::uint64_t around) {
  const std::optional<StoredSource> stored = store.source(job, source);
  if (!stored) return {};
  const LineRange wanted{
      .first = line - std::min(line - 1, around), .line = line, .last = line + around};
  Shower shower(wanted.first, wanted.last);
  bool is_whole = true;
  const bool has_all = store.visit_kept_lines(job, source, wanted, [&](const KeptLines& kept) {
    if (!is_whole) return;
    shower.begin(kept);
    is_whole = static_cast<bool>(read_kept_lines(kept.content, shower));
  });
  const bool are_calls = has_all && is_whole && stored->kept_to == stored->position.offset;
  return shower.take(stored->position.lines,
                     are_calls ? ShownLines::What::calls : ShownLines::What::not_kept);
}

}  // namespace faultline
