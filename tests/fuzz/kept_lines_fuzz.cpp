// Kept lines: reading again what was kept of any bytes, fed in any pieces, gives the same events.
// Bytes that no reader kept are refused or read, without harm.
#include "ingest/kept_lines.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "ingest/reread.h"

using namespace faultline;

namespace {

constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));

void expect(bool holds) {
  if (!holds) std::abort();
}

bool is_same(const Event& a, const Event& b) {
  return a.line == b.line && a.offset == b.offset && a.time == b.time && a.text == b.text &&
         a.fact == b.fact;
}

// The byte before each piece holds its length and what happens after it.
void read_and_read_again(std::string_view bytes) {
  Rereader again(nullptr);
  Cursor cursor;
  std::uint64_t lines = 0;
  std::unique_ptr<Reader> reader;
  while (!bytes.empty()) {
    const auto told = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    const std::size_t length = told >> 2U;
    const std::string_view piece = bytes.substr(0, length * length / 2);
    bytes.remove_prefix(piece.size());
    if (!reader) {
      reader = std::make_unique<Reader>(cursor, kNow);
      reader->keep_lines();
    }
    reader->feed(piece);
    const unsigned what = told & 3U;
    if (what == 0) continue;
    if (what == 1) reader->finish();
    if (what == 2) reader->begin_file();
    if (what == 3) reader->settle();
    const Batch batch = reader->take();
    cursor = reader->cursor();
    const auto read = again.read({.from_offset = batch.from_offset,
                                  .to_offset = batch.to_offset,
                                  .lines_before = lines,
                                  .received = kNow},
                                 reader->take_kept_lines());
    expect(static_cast<bool>(read));
    lines = cursor.lines;
    // Reading again gives only events that were there before, unless lines were skipped.
    for (const Event& event : read->batch.events) {
      bool found = false;
      for (const Event& before : batch.events) found = found || is_same(event, before);
      expect(found || !read->is_exact);
    }
    if (read->is_exact) expect(read->batch.events.size() == batch.events.size());
    if (what == 1) reader.reset();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_and_read_again(bytes);
  (void)Rereader(nullptr).read({.to_offset = size}, bytes);
  return 0;
}
