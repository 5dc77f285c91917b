// Unpacker on any bytes: it must not crash, must pair open and close, and its output must not
// depend on where the input is cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/unpack.h"

namespace {

class Transcript : public faultline::FileVisitor {
 public:
  void open(std::string_view name) override {
    if (open_) std::abort();
    open_ = true;
    text_ += name;
    text_ += '\n';
  }
  void bytes(std::string_view piece) override {
    if (!open_) std::abort();
    constexpr std::size_t kEnough = std::size_t{1} << 20;
    if (text_.size() < kEnough) text_ += piece.substr(0, kEnough - text_.size());
  }
  void unreadable(std::uint64_t bytes, std::string_view hint) override {
    if (!open_) std::abort();
    text_ += std::to_string(bytes) + " bytes: ";
    text_ += hint;
  }
  void close() override {
    if (!open_) std::abort();
    open_ = false;
  }
  const std::string& text() const {
    if (open_) std::abort();
    return text_;
  }

 private:
  bool open_ = false;
  std::string text_;
};

struct Outcome {
  std::string text;
  bool whole = true;
};

Outcome unpack(std::string_view data, std::size_t piece_size) {
  Transcript transcript;
  faultline::Unpacker unpacker("x", faultline::Encoding::detect, transcript);
  bool good = true;
  while (good && !data.empty()) {
    const std::string piece(data.substr(0, piece_size));  // a copy, so that ASan knows its end
    data.remove_prefix(piece.size());
    good = unpacker.feed(piece).has_value();
  }
  if (good) good = unpacker.finish().has_value();
  return {transcript.text(), good};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses how the rest is cut.
  const std::size_t piece_size = 1 + data[0];
  const std::string_view packed(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome at_once = unpack(packed, packed.size() + 1);
  const Outcome in_pieces = unpack(packed, piece_size);
  if (at_once.whole != in_pieces.whole) std::abort();
  // How much of a damaged block zstd returns does depend on the cuts.
  if (at_once.whole && at_once.text != in_pieces.text) std::abort();
  return 0;
}
