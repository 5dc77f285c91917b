// What was read of a source, without its calls, in a form that can be read again: with newer
// parsers and signatures, or to show what stands around a line. Secrets are hidden in it already.
//
// It records in order what a Reader was given and told to do. What cannot be read again is passed
// over, and keeps its old events: a dump, a line that is too long, a line in which only a later
// body shows a secret.
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
  // A complete line in which secrets are hidden; `bytes`: its original length with the newline.
  void line(std::string_view text, std::uint64_t bytes);
  // piece: the beginning of a line that is not complete; nothing is hidden in it. rest: more of
  // such a line; `ends`: the newline follows; `counted`: the line was counted already.
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

  // Since the last take(), nothing but calls was read, in a body that may go on.
  bool has_only_calls() const { return only_calls_; }
  std::string take();

 private:
  void end_text();
  void end_all();

  ByteWriter out_;
  std::string text_;  // not written yet, like the next two
  LineSpan calls_;
  LineSpan passed_;
  bool only_calls_ = true;
};

// Gets what read_kept_lines() reads.
class KeptLinesVisitor {
 public:
  virtual ~KeptLinesVisitor() = default;
  virtual void text(std::string_view bytes) = 0;  // as it was read, newlines and all
  // Continues the line before, and makes no sense without it.
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

// An error: it is damaged. Some of it may have been visited.
Result<void> read_kept_lines(std::string_view kept, KeptLinesVisitor& visitor);

}  // namespace faultline
