// One layer of packing: recognises the format of its bytes and builds the stages that unpack them.
#pragma once

#include <string>
#include <string_view>

#include "ingest/unpack.h"
#include "ingest/unpack/format.h"
#include "ingest/unpack/limits.h"
#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class Layer : public Stage {
 public:
  // Content-Encoding around a .tar.gz with .gz members has this many. Deeper layers are passed on
  // packed, so that unpacking an archive that contains itself ends.
  static constexpr int kMaxLayers = 4;

  // Outlives all layers of one Unpacker.
  struct Shared {
    FileVisitor& visitor;
    Limits limits;
  };

  Layer(Shared& shared, std::string name, int depth, Encoding encoding = Encoding::detect);
  Layer(const Layer&) = delete;  // the stage inside refers to it
  Layer& operator=(const Layer&) = delete;

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  Result<void> decide(Format format, std::string_view start);
  Result<void> open_file(Format format, std::string_view start);
  Result<void> refuse_member(std::string_view name, std::string_view why, std::uint64_t bytes);

  Shared& shared_;
  std::string name_;
  int depth_;
  Encoding encoding_;
  std::string held_;  // the beginning, until its format is known
  StagePtr contents_;
  bool refused_ = false;
};

}  // namespace faultline::unpacking
