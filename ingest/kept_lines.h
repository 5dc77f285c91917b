// What was read of a source, less its calls, in a form that can be read again: with newer parsers
// and signatures, or to show what stands around a line. Secrets are hidden in it already.
//
// A stretch of it says what a Reader was given and told to do, in order. What cannot be given again
// (a dump, a line too long, one that a later body shows a secret of) is passed over: what it told
// stays as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/bytes.h"
#include "model/result.h"
#include "model/time.h"

namespace faultline {

// How many lines were completed, and how many bytes that took.
struct LineSpan {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
};

class LineKeeper {
 public:
  // A line with its newline, of which secrets are hidden; `bytes`: how long it was.
  void line(std::string_view text, std::uint64_t bytes);
  // The beginning of a line that is not complete; nothing is hidden in it. And more of such a line;
  // `ends`: with its newline; `counted`: as a line already.
  void piece(std::string_view text);
  void rest(std::string_view text, bool ends, bool counted);
  void blank(std::uint64_t lines);
  void calls(LineSpan span);
  void passed(LineSpan span);

  void begin_body(Timestamp received);
  void begin_file();
  void set_boot_time(Timestamp boot_time);
  void settle();
  void finish();
  void close();

  // Since the last take: only calls were read, if anything, in a body that may go on.
  bool has_only_calls() const { return only_calls_; }
  std::string take();

 private:
  void end_text();
  void end_all();

  ByteWriter out_;
  std::string text_;  // not written yet; so the next two
  LineSpan calls_;
  LineSpan passed_;
  bool only_calls_ = true;
};

// Whoever reads it back.
class KeptLinesVisitor {
 public:
  virtual ~KeptLinesVisitor() = default;
  virtual void text(std::string_view bytes) = 0;  // as it was read, newlines and all
  // Goes on with what came before, and makes no sense without.
  virtual void rest(std::string_view bytes, bool counted) = 0;
  virtual void hidden_line(std::string_view text, std::uint64_t bytes) = 0;  // without its newline
  virtual void blank(std::uint64_t lines) = 0;
  virtual void calls(LineSpan span) = 0;
  virtual void passed(LineSpan span) = 0;
  virtual void begin_body(Timestamp received) = 0;
  virtual void begin_file() = 0;
  virtual void set_boot_time(Timestamp boot_time) = 0;
  virtual void settle() = 0;
  virtual void finish() = 0;
  virtual void close() = 0;
};

// Refused: it is damaged, and some of it may have been visited.
Result<void> read_kept_lines(std::string_view kept, KeptLinesVisitor& visitor);

}  // namespace faultline
