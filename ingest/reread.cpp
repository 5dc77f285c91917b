#include "ingest/reread.h"

#include <algorithm>
#include <string>

namespace faultline {

class Rereader::Player : public KeptLinesVisitor {
 public:
  Player(Rereader& self, std::uint64_t from) : self_(self), from_(from) {}

  bool was_exact() const { return was_exact_; }

  void text(std::string_view bytes) override {
    reader().feed(bytes);
    at_ += bytes.size();
  }

  void rest(std::string_view bytes) override {
    if (reader().is_within_a_line()) return text(bytes);
    passed({.lines = bytes.ends_with('\n') ? 1U : 0U, .bytes = bytes.size()});
  }

  void hidden_line(std::string_view text, std::uint64_t bytes) override {
    reader().feed_hidden_line(text, bytes);
    at_ += bytes;
  }

  void blank(std::uint64_t lines) override {
    constexpr std::uint64_t kAtOnce = 65536;
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
    self_.is_exact_ = was_exact_ = false;
  }

  void begin_body(Timestamp received) override {
    reader().take();  // its cursor tells of what was taken
    self_.reader_.emplace(reader().cursor(), received, self_.noteworthy_);
    reader().read_lines_only();
  }

  void begin_file() override {
    reader().begin_file();
    cover();
    from_ = at_;
    self_.is_exact_ = true;
  }
  void set_boot_time(Timestamp boot_time) override { reader().set_boot_time(boot_time); }
  void settle() override { reader().settle(); }
  void finish() override { reader().finish(); }
  void close() override { reader().close(); }

  // What was played since the last that was passed over.
  void cover() {
    if (at_ == from_) return;
    auto& covers = self_.covers_;
    if (!covers.empty() && covers.back().to == from_ && covers.back().is_exact == self_.is_exact_)
      covers.back().to = at_;
    else
      covers.push_back({from_, at_, self_.is_exact_});
  }

 private:
  Reader& reader() { return *self_.reader_; }

  Rereader& self_;
  std::uint64_t from_;
  std::uint64_t at_ = from_;
  bool was_exact_ = self_.is_exact_;
};

void Rereader::open(const Stretch& stretch) {
  const bool goes_on = reader_ && stretch.before == Before::calls && at_ <= stretch.from_offset &&
                       lines_ <= stretch.lines_before;
  if (!goes_on) {
    is_exact_ = stretch.from_offset == 0;
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
  Player player(*this, stretch.from_offset);
  const Result<void> played = read_kept_lines(kept, player);
  if (!played) {
    reader_.reset();
    return played.error();
  }
  player.cover();
  Read read{.batch = reader_->take(), .is_exact = player.was_exact()};
  const Cursor after = reader_->cursor();
  at_ = stretch.to_offset;
  lines_ = after.lines;
  if (after.offset != stretch.to_offset) reader_.reset();  // it is not what was said of it
  return read;
}

Rereader::Covered Rereader::covered(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(covers_, offset, {}, &Cover::from);
  if (after == covers_.begin() || offset >= std::prev(after)->to) return Covered::not_at_all;
  return std::prev(after)->is_exact ? Covered::exactly : Covered::loosely;
}

}  // namespace faultline
