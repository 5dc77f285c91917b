#include "ingest/wrapped_rows.h"

#include <algorithm>
#include <utility>

#include "ingest/unwrap/framed.h"
#include "ingest/unwrap/labels.h"
#include "ingest/unwrap/scan.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 400;

// Programs for mail break rows before this column.
constexpr std::size_t kOfMail = 80;
constexpr std::size_t kLeastOfMail = 68;

constexpr int kVotesNeeded = 3;
constexpr int kVotesOfWholeRow = 2;  // the second row is as long as the first

// Beyond these, the log counts as one whose lines are as they were printed.
constexpr int kMostAgainst = 16;
constexpr std::int64_t kMostRows = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;  // of a line

std::string_view without_end(std::string_view row) {
  while (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

// Columns as a terminal counts them: a letter of several bytes takes one, a colour none.
std::size_t columns_of(std::string_view row) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < row.size(); ++at) {
    if (row[at] == '\x1b' && at + 1 < row.size() && row[at + 1] == '[') {
      at += 2;
      while (at < row.size() && (row[at] < '@' || row[at] > '~')) ++at;
    } else if ((static_cast<unsigned char>(row[at]) & 0xC0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

bool is_blank_row(std::string_view row) {
  return std::ranges::all_of(row, [](char c) { return is_blank(c); });
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// "> ", "> > ": what an answer to a mail puts before each row of it.
std::string_view quote_of(std::string_view row) {
  std::size_t end = 0;
  while (row.substr(end).starts_with("> ")) end += 2;
  return row.substr(0, end);
}

// Whether the border between the rows is within a word. Between two lines, one word would end and
// another begin. A line does not end with a blank; a row of a table may end with many.
bool is_within_a_word(std::string_view row, std::string_view next) {
  constexpr std::string_view kGoOn = "_=/(-";
  constexpr std::string_view kComeAfter = "_,);:";
  const char last = row.back();
  const char first = next.front();
  if (is_blank(last)) return !is_blank(first) && row.size() > 1 && !is_blank(row[row.size() - 2]);
  if (kComeAfter.find(first) != std::string_view::npos) return true;
  const bool word = is_letter(first) || is_digit(first);
  if (kGoOn.find(last) != std::string_view::npos) return word;
  return (is_lower(last) && is_lower(first)) || (is_digit(last) && is_digit(first)) ||
         (is_upper(last) && is_upper(first));
}

// Whether both are rows of a table, in which each row is a line.
bool are_of_a_table(std::string_view row, std::string_view next) {
  constexpr std::string_view kBorders = "|+";
  return row.front() == next.front() && kBorders.find(row.front()) != std::string_view::npos;
}

// Whether both begin as if with the name of a host.
bool are_labelled(std::string_view row, std::string_view next) {
  return possible_label(next) && possible_label(row);
}

}  // namespace

void WrappedRows::stop() {
  *this = {};
  state_ = State::off;
}

void WrappedRows::count_against() {
  votes_ = 0;
  joints_ = 0;
  if (++against_ == kMostAgainst) stop();
}

// Whether a row may continue a line: it does not begin like one, and is no longer than a whole row.
bool WrappedRows::may_go_on_with(std::string_view row) const {
  return columns_of(row) <= width_ && !is_blank_row(row) && !begins_a_line(row);
}

bool WrappedRows::seems_to_go_on_with(std::string_view row) const {
  row = without_end(row);
  return !before_.empty() && may_go_on_with(row) && is_within_a_word(before_, row);
}

void WrappedRows::count_for(std::string_view row, bool is_own) {
  // A script prints the same rows again and again, so each joint counts once.
  const auto last = static_cast<unsigned char>(before_.back());
  const auto first = static_cast<unsigned char>(row.front());
  const std::uint32_t joint = 1U << ((last * 7U + first) % 32);
  const bool is_new = (joints_ & joint) == 0;
  joints_ |= joint;
  const bool is_whole = columns_of(row) == width_ && !is_own;
  vote((is_new ? 1 : 0) + (is_whole ? kVotesOfWholeRow : 0));
}

void WrappedRows::vote(int votes) {
  votes_ += votes;
  if (votes_ < kVotesNeeded) return;
  state_ = State::joining;
  against_ = 0;
}

void WrappedRows::told_more() {
  if (state_ == State::learning && !is_mail_) vote(kVotesNeeded);
}

bool WrappedRows::may_be_of_a_mail(std::string_view row) {
  const std::size_t columns = columns_of(without_end(row));
  return columns >= kNarrowest && columns < kOfMail;
}

// Whether a mail may have broken the line before this row: its first word had no room there.
bool WrappedRows::goes_on_as_in_mail(std::string_view row) const {
  const std::string_view quote = quote_of(row);
  if (of_mail_.empty() || quote != quote_of(of_mail_)) return false;
  const std::string_view before = std::string_view(of_mail_).substr(quote.size());
  row.remove_prefix(quote.size());
  if (is_blank_row(row) || is_blank(row.front()) || begins_a_line(row) || are_labelled(before, row))
    return false;
  const std::size_t word = std::min(row.find(' '), row.size());
  return columns_of(row) < kOfMail && columns_of(before) + 1 + word >= kLeastOfMail;
}

WrappedRows::Learned WrappedRows::learn(std::string_view row, std::uint64_t number,
                                        const RowRead& read) {
  row = without_end(row);
  const std::size_t columns = columns_of(row);
  if (columns > kWidest || ++rows_ == kMostRows) {
    stop();
    return Learned::nothing;
  }
  // A row that gave something by itself may be a row of a table, as long as the others.
  const bool is_own = read.counted || read.told || read.inside;
  is_mail_ = !is_own && (before_.empty() || !quote_of(row).empty()) && goes_on_as_in_mail(row);
  if (is_mail_) {
    before_.clear();
    line_ = std::exchange(of_mail_, {});
    if (!is_blank(line_.back())) line_ += ' ';
    first_row_ = number - 1;
    line_ += row.substr(quote_of(row).size());
    return Learned::line_ends;
  }
  of_mail_.clear();
  if (may_be_of_a_mail(row) && !read.told && !read.inside &&
      begins_a_line(row.substr(quote_of(row).size()))) {
    of_mail_ = row;
    counted_ = read.counted;
  }
  if (!before_.empty()) {
    const bool splits_letters = is_letter(before_.back()) && !row.empty() && is_letter(row.front());
    const bool may_go_on =
        may_go_on_with(row) && (!is_own || splits_letters) && !are_labelled(before_, row);
    if (may_go_on && seems_to_go_on_with(row)) {
      count_for(row, is_own);
    } else if (!read.inside && (is_own || !may_go_on)) {
      count_against();
    }
    const std::string before = std::exchange(before_, {});
    if (may_go_on && !is_own && !before_told_) {
      line_ = before;
      first_row_ = number - 1;
      return add(row) ? Learned::line_ends : Learned::line_goes_on;
    }
    if (state_ != State::learning) return Learned::nothing;
  }
  if (columns > width_) {
    width_ = columns;
    votes_ = 0;
    joints_ = 0;
  }
  if (columns == width_ && columns >= kNarrowest && !is_blank_row(row)) {
    before_ = row;
    before_told_ = read.told || read.inside;
    counted_ = read.counted;
  }
  return Learned::nothing;
}

bool WrappedRows::goes_on_with(std::string_view row) {
  row = without_end(row);
  const bool goes_on =
      may_go_on_with(row) && !are_of_a_table(line_, row) && !are_labelled(line_, row);
  // If lines are as they were printed, a row that begins a line follows even the longest ones.
  if (is_joining()) against_ = std::max(0, against_ + (goes_on ? -1 : 1));
  return goes_on;
}

bool WrappedRows::add(std::string_view row) {
  row = without_end(row);
  line_ += row;
  return columns_of(row) < width_ || line_.size() > kMostBytes;
}

bool WrappedRows::begin(std::string_view row, std::uint64_t number) {
  row = without_end(row);
  const std::size_t columns = columns_of(row);
  if (columns > width_ || against_ >= kMostAgainst) stop();
  if (columns != width_ || !is_joining() || is_blank_row(row)) return false;
  line_ = row;
  first_row_ = number;
  counted_ = false;
  return true;
}

WrappedRows::Line WrappedRows::take() {
  return {.text = std::exchange(line_, {}),
          .first_row = first_row_,
          .counted = std::exchange(counted_, false)};
}

std::string WrappedRows::save() const {
  if (!is_watching()) return {};
  SavedBytesWriter saved;
  for (const std::int64_t number :
       {static_cast<std::int64_t>(state_), static_cast<std::int64_t>(width_),
        static_cast<std::int64_t>(votes_), static_cast<std::int64_t>(joints_),
        static_cast<std::int64_t>(against_), rows_, static_cast<std::int64_t>(before_told_),
        static_cast<std::int64_t>(counted_), static_cast<std::int64_t>(first_row_)})
    saved.number(number);
  saved.text(before_);
  saved.text(of_mail_);
  saved.text(line_);
  return saved.take();
}

void WrappedRows::restore(std::string_view bytes) {
  *this = {};
  SavedBytesReader saved(bytes);
  const std::int64_t state = saved.number();
  state_ = state == static_cast<std::int64_t>(State::joining) ? State::joining : State::learning;
  width_ = static_cast<std::size_t>(std::clamp<std::int64_t>(saved.number(), 0, kWidest));
  votes_ = saved.small_number();
  joints_ = static_cast<std::uint32_t>(saved.number());
  against_ = saved.small_number();
  rows_ = saved.number();
  before_told_ = saved.number() != 0;
  counted_ = saved.number() != 0;
  first_row_ = static_cast<std::uint64_t>(saved.number());
  before_ = saved.text();
  of_mail_ = saved.text();
  line_ = saved.text();
  if (!saved.ok() || !saved.at_end() || line_.size() > 2 * kMostBytes ||
      before_.size() > kMostBytes || of_mail_.size() > kMostBytes)
    stop();
}

}  // namespace faultline
