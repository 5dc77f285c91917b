#include "ingest/unwrap/pieces.h"

#include <algorithm>

#include "ingest/unwrap/escapes.h"

namespace faultline {

Peeled Pieces::whole(const Waiting& waiting) {
  Peeled line = waiting.known;
  line.host = waiting.host;
  line.program = {};
  line.text = waiting.text;
  return line;
}

std::size_t Pieces::bytes() const {
  std::size_t bytes = 0;
  for (const Waiting& waiting : streams_) bytes += waiting.text.size();
  return bytes;
}

Step Pieces::join(Stream stream, bool last, Peeled& line, TextPool& pool) {
  Waiting& waiting = streams_[stream];
  if (!waiting.begun) {
    if (last) {
      line.text = without_control_bytes(line.text, pool);
      return Step::peeled;
    }
    waiting.begun = true;
    waiting.known = line;
    waiting.host = line.host;
  }
  if (!waiting.dropping && bytes() + line.text.size() > kMaxBytes) {
    waiting.text = {};
    waiting.dropping = true;
  }
  if (!waiting.dropping) waiting.text += line.text;
  if (!last) return Step::held;

  const Waiting complete = std::exchange(waiting, {});
  if (complete.dropping) return Step::held;
  line = whole(complete);
  line.host = pool.copy(line.host);
  line.text = without_control_bytes(pool.copy(line.text), pool);
  return Step::peeled;
}

bool Pieces::empty() const {
  return std::none_of(streams_.begin(), streams_.end(),
                      [](const Waiting& waiting) { return waiting.begun; });
}

void Pieces::save(SavedWriter& saved) const {
  for (const Waiting& waiting : streams_) {
    saved.number(waiting.begun ? 1 : 0);
    if (!waiting.begun) continue;
    Peeled known = waiting.known;
    known.host = waiting.host;
    saved.peeled(known);
    saved.text(waiting.text);
    saved.number(waiting.dropping ? 1 : 0);
  }
}

void Pieces::restore(SavedReader& saved) {
  for (Waiting& waiting : streams_) {
    waiting = {};
    waiting.begun = saved.number() != 0;
    if (!waiting.begun) continue;
    waiting.known = saved.peeled();
    waiting.host = waiting.known.host;
    waiting.text = saved.text();
    waiting.dropping = saved.number() != 0;
  }
}

}  // namespace faultline
