// Any bytes, cut anywhere, with a restart anywhere: the same facts and calls, and none lost or
// counted twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "facts_of_source.h"
#include "ingest/reader.h"

namespace {

using namespace faultline;

struct Told {
  FactsOfSource facts;
  std::vector<std::string> calls;

  void add(const Batch& batch) {
    for_each_in_order(
        batch, [&](const Event& event) { facts.add(batch, event); },
        [&](const CallRun& run) {
          for (const Call& call : run.calls)
            calls.push_back(std::to_string(batch.first_line + call.line) + " " +
                            batch.signatures[call.signature].function + " " +
                            std::to_string(call.op_count));
        });
  }

  // Calls come in runs, by thread.
  bool operator==(Told& other) {
    std::sort(calls.begin(), calls.end());
    std::sort(other.calls.begin(), other.calls.end());
    return facts == other.facts && calls == other.calls;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0];
  const bool restart = data[1] % 2 == 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  Told whole;
  Reader undisturbed(Cursor{}, Timestamp{});
  undisturbed.feed(text);
  undisturbed.close();
  whole.add(undisturbed.take());

  Told pieces;
  Reader reader(Cursor{}, Timestamp{});
  std::uint64_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::string copy(text.substr(at, piece));
    reader.feed(copy);
    at += copy.size();
    Batch batch = reader.take();
    lines += batch.lines;
    pieces.add(batch);
    if (restart) {
      const Cursor cursor = reader.cursor();
      reader = Reader(cursor, Timestamp{});
      if (cursor.offset < at) {  // the unfinished line comes again
        std::string again(text.substr(cursor.offset, at - cursor.offset));
        reader.feed(again);
      }
    }
  }
  reader.close();
  Batch last = reader.take();
  lines += last.lines;
  pieces.add(last);
  if (!(pieces == whole) || lines != reader.cursor().lines || reader.cursor().offset != text.size())
    std::abort();
  return 0;
}
