// The bytes of a source, cut anywhere, also into bodies, with a restart anywhere: they give the
// same facts as without interruption, and the reader remembers little between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "facts_of_source.h"
#include "ingest/reader.h"

namespace faultline {

inline constexpr std::size_t kMostCarry = std::size_t{32} << 20;

// `check(const Fact&)` says whether a fact makes sense.
template <class Check>
void read_anyhow(std::string_view text, std::size_t piece, bool restart, bool bodies,
                 Check&& check) {
  const auto add = [&](const Batch& batch, FactsOfSource& facts) {
    for (const Event& event : batch.events) {
      if (!check(event.fact)) std::abort();
      facts.add(batch, event);
    }
  };

  FactsOfSource whole;
  Reader undisturbed(Cursor{}, Timestamp{});
  undisturbed.feed(text);
  undisturbed.close();
  add(undisturbed.take(), whole);

  FactsOfSource pieces;
  Reader reader(Cursor{}, Timestamp{});
  for (std::size_t at = 0; at < text.size();) {
    const std::string copy(text.substr(at, piece));
    reader.feed(copy);
    at += copy.size();
    if (bodies) reader.finish();
    add(reader.take(), pieces);
    if (!restart) continue;
    const Cursor cursor = reader.cursor();
    if (cursor.carry.size() > kMostCarry) std::abort();
    reader = Reader(cursor, Timestamp{});
    if (cursor.offset < at)  // the unfinished line comes again
      reader.feed(std::string(text.substr(cursor.offset, at - cursor.offset)));
  }
  reader.close();
  add(reader.take(), pieces);
  if (pieces != whole) std::abort();
}

// Inputs are text whose first line matters, so the last two bytes say how it is cut.
template <class Check>
void read_anyhow(const std::uint8_t* data, std::size_t size, Check&& check) {
  if (size < 2) return;
  read_anyhow({reinterpret_cast<const char*>(data), size}, 1 + std::size_t{4} * data[size - 1],
              data[size - 2] % 2 == 0, data[size - 2] % 4 < 2, check);
}

}  // namespace faultline
