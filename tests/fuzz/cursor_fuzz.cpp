// Any bytes as the saved memory of a source: a reader continues from them without a crash, loses no
// byte and does not remember more than there was. From its own saved memory a reader gives the same
// result wherever the rest is cut.
#include <algorithm>

#include "ingest/reader.h"
#include "oracle.h"
#include "told_by_source.h"

namespace {

using namespace faultline;

ToldBySource read(const Cursor& cursor, std::string_view text, std::size_t cut) {
  ToldBySource told;
  Reader first(cursor, Timestamp{});
  first.feed(std::string(text.substr(0, cut)));
  if (cut < text.size()) {
    first.finish();
    told.add(first.take());
    first = Reader(first.cursor(), Timestamp{});
    first.feed(std::string(text.substr(cut)));
  }
  first.close();
  told.add(first.take());
  require(first.cursor().offset == cursor.offset + text.size(), "all bytes are held");
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t cut = input.byte();
  Cursor cursor{.offset = std::uint64_t{1} << 40, .lines = 7, .carry = {}};
  // The length of the unfinished line in a carry, which a fuzzer would hardly guess.
  const std::size_t length = input.byte() * std::size_t{16} + input.byte();
  cursor.carry.push_back(static_cast<char>(input.byte()));
  for (int shift = 0; shift < 64; shift += 8)
    cursor.carry.push_back(static_cast<char>(length >> shift & 255));
  const std::string_view all = input.rest();
  const std::size_t carried = std::min(all.size(), length + all.size() / 2);
  cursor.carry += all.substr(0, carried);
  const std::string_view text = all.substr(carried);

  Reader reader(cursor, Timestamp{});
  reader.finish();
  (void)reader.take();
  require(reader.cursor().carry.size() <= 2 * cursor.carry.size() + 1024, "memory does not grow");
  (void)read(reader.cursor(), text, std::min(cut, text.size()));

  Reader writer(Cursor{}, Timestamp{});
  writer.feed(std::string(all.substr(0, carried)));
  writer.finish();
  (void)writer.take();
  const Cursor ours = writer.cursor();
  const ToldBySource whole = read(ours, text, text.size());
  require(read(ours, text, std::min(cut, text.size())) == whole, "a cut changes nothing");
  return 0;
}
