#include "ingest/source_keeper.h"

#include <algorithm>

namespace faultline {

SourceKeeper::SourceKeeper(const LineReader& lines, Timestamp received, std::uint64_t from,
                           bool within_a_line)
    : lines_(lines), kept_to_(from), kept_a_piece_(within_a_line) {
  keeper_.begin_body(received);
}

void SourceKeeper::line(std::uint64_t start, std::string_view text, const LineReader::Read& read,
                        bool counted) {
  const std::uint64_t bytes = text.size() + 1;
  if (kept_to_ > start)
    rest_of(start, text, counted);
  else if (read.is_call)
    keeper_.calls({.lines = 1, .bytes = bytes});
  else if (!row(text, read))
    keeper_.line(lines_.without_secrets_as_read(text), bytes);
  kept_to_ = std::max(kept_to_, start + bytes);
}

// Rows are held back until their line is complete: it may show a secret that no single row shows.
bool SourceKeeper::row(std::string_view text, const LineReader::Read& read) {
  if (read.has_joined && (read.waits || !read.is_row)) end_rows(read.has_hidden);
  if (!read.is_row) return false;
  ++held_.lines;
  held_.bytes += text.size() + 1;
  held_rows_.append(text) += '\n';
  held_hide_ = held_hide_ || read.has_hidden;
  if (!read.waits) end_rows(false);
  return true;
}

void SourceKeeper::end_rows(bool has_hidden) {
  if (held_.lines == 0) return;
  if (has_hidden || held_hide_)
    keeper_.passed(held_);
  else
    keeper_.piece(held_rows_);
  held_ = {};
  held_rows_.clear();
  held_hide_ = false;
}

// The line's beginning is kept or passed over already, and maybe counted.
void SourceKeeper::rest_of(std::uint64_t start, std::string_view line, bool counted) {
  end_rows(lines_.is_joining());
  const std::uint64_t begun = kept_to_ - start;
  if (kept_a_piece_ && begun <= line.size()) {
    const std::string_view rest = line.substr(begun);
    // Only the first check finds the value of a setting that the line before has named.
    if (lines_.without_secrets_as_read(line) == line && lines_.without_secrets(line) == line) {
      keeper_.rest(rest, true, counted);
      return;
    }
  }
  const std::uint64_t end = start + line.size() + 1;
  keeper_.passed({.lines = counted ? 0U : 1U, .bytes = end - std::min(kept_to_, end)});
}

void SourceKeeper::blank(std::uint64_t start, std::uint64_t lines) {
  if (kept_to_ > start) return pass(lines, start + lines);
  keeper_.blank(lines);
  kept_to_ = start + lines;
}

void SourceKeeper::pass(std::uint64_t lines, std::uint64_t end) {
  end_rows(lines_.is_joining());
  keeper_.passed({.lines = lines, .bytes = end - std::min(kept_to_, end)});
  kept_to_ = std::max(kept_to_, end);
}

void SourceKeeper::unfinished(std::uint64_t start, std::string_view piece, std::uint64_t end,
                              std::uint64_t lines, bool counted) {
  end_rows(lines_.is_joining());
  if (kept_to_ >= end) return;
  const std::uint64_t begun = kept_to_ > start ? kept_to_ - start : 0;
  const bool goes_on = begun == 0 || kept_a_piece_;
  kept_a_piece_ = !piece.empty() && goes_on && !lines_.is_joining() &&
                  start + piece.size() == end && lines_.without_secrets(piece) == piece;
  if (kept_a_piece_ && begun > 0)
    keeper_.rest(piece.substr(begun), false, counted);
  else if (kept_a_piece_)
    keeper_.piece(piece);
  else
    keeper_.passed({.lines = lines, .bytes = end - kept_to_});
  kept_to_ = end;
}

void SourceKeeper::settle() {
  end_rows(lines_.is_joining());
  keeper_.settle();
}

std::string SourceKeeper::take() {
  end_rows(lines_.is_joining());
  return keeper_.take();
}

}  // namespace faultline
