// Shared by the tests of Unpacker: packed data, and the result of unpacking it.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/unpack.h"

namespace faultline {

using Files = std::vector<std::pair<std::string, std::string>>;

class Collector : public FileVisitor {
 public:
  void open(std::string_view name) override {
    EXPECT_FALSE(is_open) << "two files at once";
    is_open = true;
    files.emplace_back(name, "");
  }
  void bytes(std::string_view piece) override {
    EXPECT_TRUE(is_open);
    files.back().second += piece;
  }
  void close() override {
    EXPECT_TRUE(is_open);
    is_open = false;
  }

  void unreadable(std::uint64_t, std::string_view hint) override {
    EXPECT_TRUE(is_open);
    hints.emplace_back(hint);
  }

  Files files;
  std::vector<std::string> hints;
  bool is_open = false;
};

struct Outcome {
  Files files;
  std::string error;
  Error::Kind kind{};
  std::vector<std::string> hints;
  bool operator==(const Outcome&) const = default;
};

inline void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << testing::PrintToString(outcome.files) << ", error \"" << outcome.error << "\", hints "
       << testing::PrintToString(outcome.hints);
}

// Feeds data in pieces of the sizes that `next_size` gives.
inline Outcome unpack(std::string_view data, const std::function<std::size_t()>& next_size,
                      Encoding encoding = Encoding::detect) {
  Collector collector;
  Unpacker unpacker("log", encoding, collector);
  Result<void> result;
  while (!data.empty() && result) {
    const std::string_view piece = data.substr(0, next_size());
    result = unpacker.feed(piece);
    data.remove_prefix(piece.size());
  }
  if (result) result = unpacker.finish();
  EXPECT_FALSE(collector.is_open) << "a file was left open";
  Outcome outcome{collector.files, "", {}, collector.hints};
  if (!result) {
    outcome.error = result.error().message;
    outcome.kind = result.error().kind;
  }
  return outcome;
}

inline Outcome unpack(std::string_view data, Encoding encoding = Encoding::detect) {
  return unpack(data, [&] { return data.size(); }, encoding);
}

inline std::string gzip(std::string_view data) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, static_cast<uLong>(data.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string zstd(std::string_view data, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  }
  std::string packed(ZSTD_compressBound(data.size()), '\0');
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // In two steps, so that the window is not shrunk to the size of the data.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

inline std::string many_lines(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i)
    text += "host:1:2 [0] NCCL INFO AllReduce: opCount " + std::to_string(i) + "\n";
  return text;
}

inline const std::string kLine =
    "[   12.5] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";

}  // namespace faultline
