#include "ingest/reread.h"

#include <algorithm>
#include <string>

namespace faultline {

class Rereader::Player : public KeptLinesVisitor {
 public:
  Player(Rereader& self, const Stretch& stretch)
      : self_(self), from_(stretch.from_offset), to_(stretch.to_offset) {}

  bool was_exact() const { return was_exact_; }

  void text(std::string_view bytes) override {
    reader().feed(bytes);
    at_ += bytes.size();
  }

  void rest(std::string_view bytes, bool counted) override {
    if (reader().is_within_a_line()) return text(bytes);
    passed({.lines = bytes.ends_with('\n') && !counted ? 1U : 0U, .bytes = bytes.size()});
  }

  void hidden_line(std::string_view text, std::uint64_t bytes) override {
    reader().feed_hidden_line(text, bytes);
    at_ += bytes;
  }

  void blank(std::uint64_t lines) override {
    constexpr std::uint64_t kAtOnce = 65536;
    if (lines > to_ - std::min(at_, to_)) throw BadBytes("has more lines than bytes");
    at_ += lines;
    const std::string some(static_cast<std::size_t>(std::min(lines, kAtOnce)), '\n');
    for (; lines >= some.size() && !some.empty(); lines -= some.size()) reader().feed(some);
    reader().feed(std::string_view(some).substr(0, static_cast<std::size_t>(lines)));
  }

  void calls(LineSpan span) override {
    reader().pass_calls(span);
    at_ += span.bytes;
  }

  void passed(LineSpan span) override {
    cover();
    reader().pass(span);
    at_ += span.bytes;
    from_ = at_;
    self_.loosen();
    was_exact_ = false;
  }

  void begin_body(Timestamp received) override {
    reader().take();  // the cursor covers only what was taken
    self_.reader_.emplace(reader().cursor(), received, self_.noteworthy_);
    reader().read_lines_only();
  }

  void begin_file() override {
    reader().begin_file();
    cover();
    from_ = at_;
    self_.begin_file();
  }
  void set_boot_time(Timestamp boot_time) override { reader().set_boot_time(boot_time); }
  void settle() override { reader().settle(); }
  void finish() override { reader().finish(); }
  void close() override { reader().close(); }

  // Notes the stretch that was played since something was last passed over.
  void cover() {
    if (at_ == from_) return;
    auto& covers = self_.covers_;
    if (covers.size() > self_.first_of_file_ && covers.back().to == from_)
      covers.back().to = at_;
    else
      covers.push_back({from_, at_, self_.is_exact_});
  }

 private:
  Reader& reader() { return *self_.reader_; }

  Rereader& self_;
  std::uint64_t from_;
  std::uint64_t to_;
  std::uint64_t at_ = from_;
  bool was_exact_ = self_.is_exact_;
};

// A line may give its facts late, and together with a line that was passed over. So it is no longer
// certain for the whole file that everything was given again.
void Rereader::loosen() {
  if (!std::exchange(is_exact_, false)) return;
  for (std::size_t i = first_of_file_; i < covers_.size(); ++i) covers_[i].is_exact = false;
}

void Rereader::begin_file() {
  is_exact_ = true;
  first_of_file_ = covers_.size();
}

void Rereader::open(const Stretch& stretch) {
  const bool goes_on = reader_ && stretch.before == Before::calls && at_ <= stretch.from_offset &&
                       lines_ <= stretch.lines_before;
  if (!goes_on) {
    if (stretch.from_offset > 0) loosen();
    reader_.emplace(Cursor{stretch.from_offset, stretch.lines_before, {}}, stretch.received,
                    noteworthy_);
    reader_->read_lines_only();
    return;
  }
  if (at_ == stretch.from_offset && lines_ == stretch.lines_before) return;
  reader_->pass_calls({.lines = stretch.lines_before - lines_, .bytes = stretch.from_offset - at_});
  reader_->take();
}

Result<Rereader::Read> Rereader::read(const Stretch& stretch, std::string_view kept) {
  open(stretch);
  const std::size_t covers = covers_.size();
  const Cover last = covers_.empty() ? Cover{} : covers_.back();
  Player player(*this, stretch);
  Result<void> played = read_kept_lines(kept, player);
  Read read;
  if (played) {
    player.cover();
    read = {.batch = reader_->take(), .is_exact = player.was_exact()};
    const Cursor after = reader_->cursor();
    at_ = stretch.to_offset;
    lines_ = after.lines;
    if (after.offset != stretch.to_offset)
      played = Error{Error::Kind::invalid_input, "does not end where its row says"};
  }
  if (played) return read;
  covers_.resize(covers);
  if (covers > 0) covers_.back() = {last.from, last.to, false};
  first_of_file_ = std::min(first_of_file_, covers);
  loosen();
  reader_.reset();
  return played.error();
}

Rereader::Covered Rereader::covered(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(covers_, offset, {}, &Cover::from);
  if (after == covers_.begin() || offset >= std::prev(after)->to) return Covered::not_at_all;
  return std::prev(after)->is_exact ? Covered::exactly : Covered::loosely;
}

}  // namespace faultline
