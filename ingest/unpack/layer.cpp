#include "ingest/unpack/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/unpack/gzip_stage.h"
#include "ingest/unpack/tar_stage.h"
#include "ingest/unpack/zstd_stage.h"

namespace faultline::unpacking {
namespace {

// A file, at the end of all unpacking.
class PlainStage : public Stage {
 public:
  PlainStage(FileVisitor& visitor, std::string_view name) : visitor_(visitor) {
    visitor_.open(name);
  }

  Result<void> feed(std::string_view bytes) override {
    visitor_.bytes(bytes);
    return {};
  }

  Result<void> finish() override {
    visitor_.close();
    return {};
  }

 private:
  FileVisitor& visitor_;
};

}  // namespace

Layer::Layer(Shared& shared, std::string name, int depth, Encoding encoding)
    : shared_(shared), name_(std::move(name)), depth_(depth), encoding_(encoding) {}

Result<void> Layer::feed(std::string_view bytes) {
  if (contents_) return contents_->feed(bytes);

  // Only what cannot be decided is copied.
  const std::size_t looked_at = std::min(kFormatBytes - held_.size(), bytes.size());
  if (!held_.empty()) held_.append(bytes.substr(0, looked_at));
  const std::string_view start = held_.empty() ? bytes.substr(0, looked_at) : held_;
  const std::optional<Format> format = depth_ < kMaxLayers ? format_of(start) : Format::plain;
  if (!format) {
    if (held_.empty()) held_ = bytes;
    return {};
  }
  if (auto decided = decide(*format); !decided) return decided;
  if (!held_.empty()) {
    bytes.remove_prefix(looked_at);
    const std::string held = std::exchange(held_, {});
    if (auto fed = contents_->feed(held); !fed) return fed;
  }
  return bytes.empty() ? Result<void>{} : contents_->feed(bytes);
}

Result<void> Layer::finish() {
  if (refused_) return {};
  if (!contents_) {
    // Too short to be anything but a file as it is. Nothing at all is an empty file, whatever its
    // encoding.
    if (held_.empty()) encoding_ = Encoding::detect;
    if (auto decided = decide(Format::plain); !decided) return decided;
    if (!held_.empty())
      if (auto fed = contents_->feed(held_); !fed) return fed;
  }
  return contents_->finish();
}

Result<void> Layer::decide(Format format) {
  if (encoding_ != Encoding::detect) {
    const bool gzip = encoding_ == Encoding::gzip;
    if (format != (gzip ? Format::gzip : Format::zstd)) {
      refused_ = true;
      return Error{
          Error::Kind::invalid_input,
          fmt::format("Content-Encoding says {}, but the body is not", gzip ? "gzip" : "zstd")};
    }
  }
  const auto inner = [this] { return std::make_unique<Layer>(shared_, name_, depth_ + 1); };
  switch (format) {
    case Format::gzip:
      contents_ = std::make_unique<GzipStage>(shared_.limits, inner());
      break;
    case Format::zstd:
      contents_ = std::make_unique<ZstdStage>(shared_.limits, inner());
      break;
    case Format::tar:
      contents_ = std::make_unique<TarStage>([this](std::string_view member) {
        return std::make_unique<Layer>(shared_, fmt::format("{}/{}", name_, member), depth_ + 1);
      });
      break;
    case Format::plain:
      if (auto within = shared_.limits.file_opened(); !within) return within;
      contents_ = std::make_unique<PlainStage>(shared_.visitor, name_);
      break;
  }
  return {};
}

}  // namespace faultline::unpacking
