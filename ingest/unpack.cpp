#include "ingest/unpack.h"

#include <utility>

#include "ingest/unpack/layer.h"

namespace faultline {

class Unpacker::Impl {
 public:
  Impl(std::string name, Encoding encoding, FileVisitor& visitor)
      : shared_{visitor, unpacking::Limits(visitor)},
        outermost_(shared_, std::move(name), 0, encoding) {}

  Result<void> feed(std::string_view bytes) {
    if (bytes.empty()) return {};
    shared_.limits.received(bytes.size());
    Result<void> fed = outermost_.feed(bytes);
    if (!fed) (void)outermost_.finish();  // closes what is open; the first complaint counts
    return fed;
  }

  Result<void> finish() { return outermost_.finish(); }

 private:
  unpacking::Layer::Shared shared_;
  unpacking::Layer outermost_;
};

Unpacker::Unpacker(std::string name, Encoding encoding, FileVisitor& visitor)
    : impl_(std::make_unique<Impl>(std::move(name), encoding, visitor)) {}
Unpacker::~Unpacker() = default;
Result<void> Unpacker::feed(std::string_view bytes) { return impl_->feed(bytes); }
Result<void> Unpacker::finish() { return impl_->finish(); }

}  // namespace faultline
