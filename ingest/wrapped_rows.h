// A log whose lines were broken at some column, by a terminal that it was copied from or by a
// program that cuts lines: its rows become lines again. That it is one shows where rows as long as
// the longest are followed by what goes on within a word. A mail's lines are broken between words:
// there what tells nothing by itself goes on with a row that begins as no line does. Holds one
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

// What reading a row by itself showed.
struct RowRead {
  bool told = false;     // a fact came of it
  bool counted = false;  // it was recognized
  bool inside = false;   // of a document or a record
};

class WrappedRows {
 public:
  // False: rows are lines, and need not pass here.
  bool is_watching() const { return state_ != State::off; }
  void stop();

  // It is known how long whole rows are.
  bool is_joining() const { return state_ == State::joining; }

  // A line of which the next row may be a part.
  bool is_open() const { return !line_.empty(); }

  // A blank row would tell it something.
  bool waits() const { return is_open() || !before_.empty() || !of_mail_.empty(); }

  // As short as rows of mails are, and long enough to have been broken.
  static bool may_be_of_a_mail(std::string_view row);

  // Of an open line. add: true if the row was its last.
  bool goes_on_with(std::string_view row);
  bool add(std::string_view row);

  // Joining, and no line is open. True: the row opened one.
  bool begin(std::string_view row, std::uint64_t number);

  // Not joining, and the row was read by itself. Else than nothing: it may go on with the row
  // before, which told nothing by itself; both are an open line now, and that ends with it or may
  // go on.
  enum class Learned : std::uint8_t { nothing, line_goes_on, line_ends };
  Learned learn(std::string_view row, std::uint64_t number, const RowRead& read);

  struct Line {
    std::string text;
    std::uint64_t first_row = 0;
    bool counted = false;  // a row of it was recognized by itself
  };
  Line take();

  // What a line told that was joined while learning: its rows were no lines.
  void told_more();

  // The next row is not the one behind the last.
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
  std::uint32_t joints_ = 0;  // that voted, as bits of a hash
  int against_ = 0;
  std::int64_t rows_ = 0;
  std::string before_;  // learning: the row before, if the next one may go on with it
  bool before_told_ = false;
  std::string of_mail_;   // learning: the row before, if a mail may have broken it
  bool is_mail_ = false;  // what was joined last was broken so
  bool counted_ = false;  // the open line, or the row before
  std::string line_;
  std::uint64_t first_row_ = 0;  // of the open line, in the source
};

}  // namespace faultline
