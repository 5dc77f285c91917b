// Any bytes, in pieces and bodies that are cut anywhere, with a restart anywhere: they give the
// same facts, calls and counts as without interruption. The first byte is the length of a piece;
// the second says where the pieces begin and what happens between two of them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "ingest/reader.h"
#include "told_by_source.h"

namespace {

using namespace faultline;

constexpr unsigned kRestarts = 1;
constexpr unsigned kEndsBodies = 2;      // after each piece
constexpr unsigned kEndsSomeBodies = 4;  // after some pieces
constexpr unsigned kSettlesBetween = 8;  // also asks for rest()
constexpr std::size_t kMostCarry = std::size_t{32} << 20;
// Restarts cost most: with one for each byte of a long input only a hundred runs a second were
// left.
constexpr std::size_t kMostPieces = 48;

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Every other line looks like trouble. The reader keeps some kernel lines, and some of these are
// complete only with the next line. It keeps watchdogs' lines without their end.
class LooksForTrouble : public Noteworthy {
 public:
  bool wants(std::string_view text, std::string_view dialect) const override {
    return (dialect == "kernel" && text.size() % 5 == 0) ||
           (dialect == "torch" && text.find("operation timeout:") != text.npos);
  }
  bool knows(const Remark& remark) const override { return remark.text.size() % 2 == 0; }
  bool reads_like_kernel(std::string_view) const override { return false; }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override { return {}; }
  TroubleKind trouble_in(std::string_view text) const override {
    return text.size() % 2 == 0   ? TroubleKind::none
           : text.size() % 3 == 0 ? TroubleKind::ends
                                  : TroubleKind::fails;
  }
  bool completes(const Remark& begun, std::string_view text) const override {
    return !knows(begun) && text.size() % 3 == 0;
  }
};

Reader reader_at(const Cursor& cursor) {
  static const auto looks = std::make_shared<LooksForTrouble>();
  return {cursor, Timestamp{}, looks};
}

ToldBySource undisturbed(std::string_view text) {
  ToldBySource told;
  Reader reader = reader_at({});
  reader.feed(text);
  reader.close();
  told.add(reader.take());
  expect(told.lines == reader.cursor().lines, "lines are counted once");
  expect(reader.cursor().offset == text.size(), "all bytes are held");
  return told;
}

class InPieces {
 public:
  // The high half of `how` says in which sixteenth of the text the pieces begin.
  InPieces(std::string_view text, std::size_t piece, unsigned how)
      : text_(text), piece_(piece), how_(how), begin_(text.size() * (how >> 4) / 16) {}

  ToldBySource read() {
    for (std::size_t number = 1; at_ < text_.size(); ++number) {
      feed_from(at_, at_ < begin_               ? begin_ - at_
                     : number > kMostPieces + 1 ? text_.size() - at_
                                                : piece_);
      const bool ends =
          (how_ & kEndsBodies) != 0 || ((how_ & kEndsSomeBodies) != 0 && number % 3 == 0);
      if (ends) end_body();
      told_.add(reader_.take());
      if (ends && (how_ & kSettlesBetween) != 0) (void)reader_.rest();
      if ((how_ & kRestarts) != 0) restart();
    }
    reader_.close();
    told_.add(reader_.take());
    expect(told_.lines == reader_.cursor().lines, "lines are counted once, in pieces");
    expect(reader_.cursor().offset == text_.size(), "all bytes are held, in pieces");
    return told_;
  }

 private:
  void feed_from(std::size_t from, std::size_t size) {
    const std::string copy(text_.substr(from, size));  // nothing may point into a piece later
    reader_.feed(copy);
    at_ = from + copy.size();
  }

  void end_body() {
    reader_.finish();
    told_.add(reader_.take());
    expect(reader_.cursor().offset == at_, "what a body brought is held");
  }

  // Feeds again what the cursor does not cover.
  void restart() {
    const Cursor cursor = reader_.cursor();
    expect(cursor.carry.size() <= kMostCarry, "little is remembered");
    reader_ = reader_at(cursor);
    if (cursor.offset < at_) feed_from(cursor.offset, at_ - cursor.offset);
  }

  std::string_view text_;
  std::size_t piece_;
  unsigned how_;
  std::size_t begin_;
  std::size_t at_ = 0;
  Reader reader_ = reader_at({});
  ToldBySource told_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const ToldBySource whole = undisturbed(text);
  const ToldBySource pieces = InPieces(text, std::size_t{1} + data[0], data[1]).read();
  if (pieces == whole) return 0;
  std::fprintf(stderr, "whole:\n%s\nin pieces:\n%s\n", whole.text().c_str(), pieces.text().c_str());
  std::abort();
}
