// SourceKeeper: decides what of a source is kept to be read again, and in which form, while a
// Reader reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/kept_lines.h"
#include "ingest/line_reader.h"
#include "model/time.h"

namespace faultline {

class SourceKeeper {
 public:
  // Keeps what is read from offset `from` on. `lines` reads the source, and knows its secrets.
  SourceKeeper(const LineReader& lines, Timestamp received, std::uint64_t from, bool within_a_line);

  // The line that begins at `start`, without its newline, and what it gave. `counted`: it was
  // counted already, in an earlier body.
  void line(std::uint64_t start, std::string_view text, const LineReader::Read& read, bool counted);
  void blank(std::uint64_t start, std::uint64_t lines);
  // Passes over everything up to `end`, without its text.
  void pass(std::uint64_t lines, std::uint64_t end);
  // The batch ends at `end`, in the middle of the line that begins at `start`, of which `piece` is
  // there, or in the middle of something else. `lines`: how many lines that was counted as.
  void unfinished(std::uint64_t start, std::string_view piece, std::uint64_t end,
                  std::uint64_t lines, bool counted);

  void begin_file() { keeper_.begin_file(); }
  void set_boot_time(Timestamp boot_time) { keeper_.set_boot_time(boot_time); }
  void settle();
  void finish() { keeper_.finish(); }
  void close() { keeper_.close(); }

  bool has_only_calls() const { return keeper_.has_only_calls(); }
  std::string take();

 private:
  bool row(std::string_view text, const LineReader::Read& read);
  void end_rows(bool has_hidden);
  void rest_of(std::uint64_t start, std::string_view line, bool counted);

  const LineReader& lines_;
  LineKeeper keeper_;
  std::uint64_t kept_to_;  // everything before this offset is kept or passed over
  bool kept_a_piece_;      // of the line at that offset
  LineSpan held_;          // rows of a line that is not complete
  std::string held_rows_;
  bool held_hide_ = false;  // these rows hold secrets
};

}  // namespace faultline
