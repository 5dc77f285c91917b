// What is wrong with a body that cannot be read, and what its sender can do about it: a sentence
// for each case. One table has the forms that are known by their first bytes, the other the texts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct UnreadableForm {
  std::string hint;        // empty: no such form is known
  bool undecided = false;  // more bytes could make it one
};

// Whether bytes that begin like this have a form without lines that can be read.
UnreadableForm unreadable_form(std::string_view start);

struct Hint {
  std::string text;
  // False: all that can be said is that no line of it is known, which is usual for some of many
  // files.
  bool certain = true;
};

// What was counted in a body.
struct BodyCounts {
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::uint64_t skipped = 0;
  bool refused = false;  // a dump in it was refused, and the sender knows why already
  bool may_be_empty = true;
};

// What to remember of a file while its bytes pass, to say afterwards what is wrong with it.
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
  std::string last_;  // the last bytes: a mark may begin in them
  std::uint64_t bytes_ = 0;
  std::uint64_t newlines_ = 0;  // without one at the end
  bool newline_last_ = false;
  std::array<std::uint64_t, kMarks> marks_{};
};

}  // namespace faultline
