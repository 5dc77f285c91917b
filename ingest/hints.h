// What is wrong with a body that cannot be read, and what its sender can do about it: a sentence
// for each, in one table of forms that are known by their first bytes and one of texts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct UnreadableForm {
  std::string hint;        // empty: not known to be one
  bool undecided = false;  // more bytes could make it one
};

// Whether bytes that begin so are of a form in which there are no lines to be read.
UnreadableForm unreadable_form(std::string_view start);

struct Hint {
  std::string text;
  // False: nothing in it is known, and that is all that can be said. Among many files it may well
  // be so of some.
  bool certain = true;
};

// What became of a body.
struct BodyCounts {
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::uint64_t skipped = 0;
  bool refused = false;  // a dump in it was, and why is said already
  bool may_be_empty = true;
};

// What has to be remembered of a file, as its bytes pass, to tell afterwards what is wrong with it.
class BodyLook {
 public:
  static constexpr std::size_t kHeadBytes = 4096;
  static constexpr std::size_t kMarks = 8;

  void feed(std::string_view bytes);

  std::vector<Hint> hints(const BodyCounts& counts) const;

  std::string_view head() const { return head_; }
  std::uint64_t bytes() const { return bytes_; }
  bool one_line() const { return newlines_ == 0; }
  std::uint64_t lines_in_one() const;  // log lines that seem to be in a body of one line

 private:
  void count_marks(std::string_view bytes);

  std::string head_;
  std::string last_;  // bytes, which may be the first of a mark of a line
  std::uint64_t bytes_ = 0;
  std::uint64_t newlines_ = 0;  // but one at the end
  bool newline_last_ = false;
  std::array<std::uint64_t, kMarks> marks_{};
};

}  // namespace faultline
