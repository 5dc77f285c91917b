// Reads the kept lines of a source again, stretch by stretch, with today's parsers and signatures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/kept_lines.h"
#include "ingest/reader.h"
#include "model/batch.h"
#include "model/noteworthy.h"
#include "model/result.h"

namespace faultline {

class Rereader {
 public:
  explicit Rereader(std::shared_ptr<const Noteworthy> noteworthy)
      : noteworthy_(std::move(noteworthy)) {}

  // What lies between this stretch and the one before.
  enum class Before { calls, unknown };

  struct Stretch {
    std::uint64_t from_offset = 0;
    std::uint64_t to_offset = 0;
    std::uint64_t lines_before = 0;  // in the source
    Before before = Before::calls;
    Timestamp received;
  };

  struct Read {
    Batch batch;  // its calls are those that were kept among lines, if any
    // Only calls of its file were passed over so far: the batch holds all that its lines say.
    bool is_exact = true;
  };
  Result<Read> read(const Stretch& stretch, std::string_view kept);

  // How the line at this offset was read again. loosely: it may continue something before it that
  // was passed over, so it may give less than it did.
  enum class Covered { not_at_all, loosely, exactly };
  Covered covered(std::uint64_t offset) const;

 private:
  class Player;

  void open(const Stretch& stretch);
  void loosen();
  void begin_file();

  std::shared_ptr<const Noteworthy> noteworthy_;
  std::optional<Reader> reader_;
  std::uint64_t at_ = 0;     // where the reader stands
  std::uint64_t lines_ = 0;  // lines before it
  bool is_exact_ = true;
  struct Cover {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    bool is_exact = true;
  };
  std::vector<Cover> covers_;      // ascending, without overlaps
  std::size_t first_of_file_ = 0;  // index into covers_
};

}  // namespace faultline
