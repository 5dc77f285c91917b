#include "store/compressed.h"

#include <zstd.h>

#include <memory>
#include <new>

#include "store/error.h"

namespace faultline {
namespace {

// Level 1 already compresses the regular columns well; higher levels cost more than they save.
constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Error unreadable(std::string_view how) { return {Error::Kind::invalid_input, std::string(how)}; }

}  // namespace

std::string compressed(std::string_view bytes) {
  std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) throw StoreError(ZSTD_getErrorName(size));
  packed.resize(size);
  packed.shrink_to_fit();  // it may wait for its turn in the writer's queue
  return packed;
}

Result<std::string> decompressed(std::string_view bytes, std::size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most)
    return unreadable("has no sensible size");
  std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  std::string content(static_cast<std::size_t>(size), '\0');
  const std::size_t read = ZSTD_decompressDCtx(context.get(), content.data(), content.size(),
                                               bytes.data(), bytes.size());
  if (ZSTD_isError(read)) return unreadable(ZSTD_getErrorName(read));
  if (read != size) return unreadable("is shorter than it says");
  return content;
}

}  // namespace faultline
