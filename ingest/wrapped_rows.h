// WrappedRows: joins rows to lines again, in a log whose lines were broken at some column, by a
// terminal from which it was copied or by a program that cuts lines. Such a log shows itself when
// rows as long as the longest go on within a word. Mails break lines between words: there, a row
// that says nothing by itself goes on with a next row that does not begin like a line. Holds at
// most one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

// What reading a row by itself showed.
struct RowRead {
  bool told = false;     // it gave a fact
  bool counted = false;  // it was recognized
  bool inside = false;   // it is inside a document or a record
};

class WrappedRows {
 public:
  // False: rows are lines, and it need not see them.
  bool is_watching() const { return state_ != State::off; }
  void stop();

  // Whether it knows how long whole rows are.
  bool is_joining() const { return state_ == State::joining; }

  // Whether a line is open, of which the next row may be a part.
  bool is_open() const { return !line_.empty(); }

  // Whether a blank row would change anything.
  bool waits() const { return is_open() || !before_.empty() || !of_mail_.empty(); }

  // Whether a row is as short as rows of mails, and long enough to have been broken.
  static bool may_be_of_a_mail(std::string_view row);

  // If a line is open. add: true if the row was its last.
  bool goes_on_with(std::string_view row);
  bool add(std::string_view row);

  // While joining, if no line is open. True: the row opened one.
  bool begin(std::string_view row, std::uint64_t number);

  // While not joining, after the row was read by itself. line_goes_on and line_ends: the row may
  // continue the row before, which gave nothing by itself. The two are an open line now, which may
  // go on or ends with this row.
  enum class Learned : std::uint8_t { nothing, line_goes_on, line_ends };
  Learned learn(std::string_view row, std::uint64_t number, const RowRead& read);

  struct Line {
    std::string text;
    std::uint64_t first_row = 0;
    bool counted = false;  // a row of it was recognized by itself
  };
  Line take();

  // A line that was joined while learning gave a fact: so its rows were no lines.
  void told_more();

  // The next row will not be the one behind the last.
  void forget_row() {
    before_.clear();
    of_mail_.clear();
  }

  // Empty: it is not watching.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  enum class State : std::uint8_t { off, learning, joining };

  void count_against();
  bool may_go_on_with(std::string_view row) const;
  bool seems_to_go_on_with(std::string_view row) const;
  bool goes_on_as_in_mail(std::string_view row) const;
  void count_for(std::string_view row, bool is_own);
  void vote(int votes);

  State state_ = State::learning;
  std::size_t width_ = 0;     // learning: of the longest row so far; joining: of whole rows
  int votes_ = 0;             // for that width
  std::uint32_t joints_ = 0;  // joints that have voted, as bits of a hash
  int against_ = 0;
  std::int64_t rows_ = 0;
  std::string before_;  // learning: the row before, if the next one may go on with it
  bool before_told_ = false;
  std::string of_mail_;   // learning: the row before, if a mail may have broken it
  bool is_mail_ = false;  // a mail broke the line that was joined last
  bool counted_ = false;  // the open line, or the row before, was counted
  std::string line_;
  std::uint64_t first_row_ = 0;  // of the open line, in the source
};

}  // namespace faultline
