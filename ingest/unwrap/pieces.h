// Joins the pieces into which a container runtime breaks long lines, each stream by itself.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"
#include "ingest/unwrap/step.h"
#include "ingest/unwrap/text_pool.h"

namespace faultline {

class Pieces {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;  // of all streams together
  static constexpr std::size_t kStreams = 4;

  enum Stream : std::size_t { kCriStdout, kCriStderr, kDockerStdout, kDockerStderr };

  // line.text is the next piece of its stream. Peeled: it is the whole text now, with what the
  // layers around the first piece knew. Held: more has to come, or it was too long and has been
  // dropped.
  Step join(Stream stream, bool last, Peeled& line, TextPool& pool);

  bool empty() const;

  // Calls give(Peeled) with each unfinished text, and forgets them.
  template <class Give>
  void finish(Give give) {
    for (Waiting& waiting : streams_) {
      const Waiting unfinished = std::exchange(waiting, {});
      if (!unfinished.text.empty()) give(whole(unfinished));
    }
  }

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  struct Waiting {
    Peeled known;  // around the first piece; do not use its views
    std::string host;
    std::string text;
    bool begun = false;
    bool dropping = false;  // until the last piece
  };

  static Peeled whole(const Waiting& waiting);
  std::size_t bytes() const;

  std::array<Waiting, kStreams> streams_;
};

}  // namespace faultline
