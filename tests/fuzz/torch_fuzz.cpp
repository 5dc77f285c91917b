// Lines of PyTorch, tracebacks and launchers' tables of any bytes, cut anywhere, with a restart
// anywhere: no crash, the same facts, and none without what makes it one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "facts_of_source.h"
#include "ingest/reader.h"

namespace {

using namespace faultline;

void add_facts(const Batch& batch, FactsOfSource& facts) {
  for (const Event& event : batch.events) {
    if (const auto* exception = std::get_if<PythonException>(&event.fact))
      if (exception->type.empty() || exception->lines.empty()) std::abort();
    if (const auto* timeout = std::get_if<WatchdogTimeout>(&event.fact))
      if (timeout->operation.empty()) std::abort();
    if (const auto* stack = std::get_if<StackTop>(&event.fact))
      if (stack->frames.empty()) std::abort();
    facts.add(batch, event);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0];
  const bool restart = data[1] % 2 == 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  FactsOfSource whole;
  Reader undisturbed(Cursor{}, Timestamp{});
  undisturbed.feed(text);
  undisturbed.close();
  add_facts(undisturbed.take(), whole);

  FactsOfSource pieces;
  Reader reader(Cursor{}, Timestamp{});
  for (std::size_t at = 0; at < text.size();) {
    const std::string copy(text.substr(at, piece));
    reader.feed(copy);
    at += copy.size();
    add_facts(reader.take(), pieces);
    if (!restart) continue;
    const Cursor cursor = reader.cursor();
    if (cursor.carry.size() > (std::size_t{32} << 20)) std::abort();
    reader = Reader(cursor, Timestamp{});
    if (cursor.offset < at)  // the unfinished line comes again
      reader.feed(std::string(text.substr(cursor.offset, at - cursor.offset)));
  }
  reader.close();
  add_facts(reader.take(), pieces);
  if (pieces != whole) std::abort();
  return 0;
}
