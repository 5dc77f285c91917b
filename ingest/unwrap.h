// Takes off what container runtimes, loggers and launchers put around a line, and keeps what they
// knew: when, on which host, from which rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "model/time.h"

namespace faultline {

// A line as its program printed it.
struct Message {
  std::string_view text;
  std::string_view host;  // empty: no wrapper names it
  EventTime time;
  int rank = -1;                 // the global one, from a launcher's prefix
  std::int64_t pid = 0;          // from a launcher's prefix; 0: it names none
  int repeated = 1;              // "message repeated 3 times"
  bool from_user_space = false;  // kernel framing says that a program wrote it, not the kernel
  bool from_kernel = false;      // the framing says that the kernel wrote it
  bool is_remark = false;        // its logger says that it is information or a warning, no error
  std::string_view program;  // the one that wrote it, unless that is the kernel; empty: not said
};

class Unwrapper {
 public:
  // A stamp without a year gets the year of the dated lines before it, else the latest year in
  // which it lies before `received`.
  explicit Unwrapper(Timestamp received);
  ~Unwrapper();
  Unwrapper(Unwrapper&&) noexcept;
  Unwrapper& operator=(Unwrapper&&) noexcept;

  // The messages that are complete with this line: usually one; none while pieces are missing;
  // several when one line is a whole document. Valid until the next call, and no longer than
  // `line`. The line comes without its newline and otherwise as it lies in the source, empty ones
  // too: some layers count bytes.
  std::span<const Message> unwrap(std::string_view line);

  // At the end of the source: the messages that still waited for other pieces.
  std::span<const Message> finish();

  // Whether it is in the middle of a record or document of several lines: then the next line may be
  // a part of it, whatever it looks like.
  bool in_document() const;

  // Whether an empty line would come out as it is, and change nothing.
  bool passes_blank_lines() const;

  // This many lines of NCCL were read without it.
  void passed(std::uint64_t lines);

  // A line that was read without it has a date with a year: stamps after it without a year are near
  // that date.
  void saw_date(Timestamp date);

  // Something was read behind this label, so it is one: labels.h.
  void learn_label(std::string_view label);

  // What it remembers between lines, so that reading can go on after a restart. Usually empty.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
