#include "ingest/unpack/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ingest/hints.h"
#include "ingest/unpack/bzip2_stage.h"
#include "ingest/unpack/gzip_stage.h"
#include "ingest/unpack/json_stage.h"
#include "ingest/unpack/tar_stage.h"
#include "ingest/unpack/wide_text_stage.h"
#include "ingest/unpack/xz_stage.h"
#include "ingest/unpack/zip_stage.h"
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

// A file in which nothing can be read: only its name, its size and a hint are reported.
class UnreadableStage : public Stage {
 public:
  UnreadableStage(FileVisitor& visitor, std::string_view name, std::string hint)
      : visitor_(visitor), hint_(std::move(hint)) {
    visitor_.open(name);
  }

  Result<void> feed(std::string_view bytes) override {
    bytes_ += bytes.size();
    return {};
  }

  Result<void> finish() override {
    visitor_.unreadable(bytes_, hint_);
    visitor_.close();
    return {};
  }

 private:
  FileVisitor& visitor_;
  std::string hint_;
  std::uint64_t bytes_ = 0;
};

// What a Content-Encoding says.
struct Named {
  Encoding encoding;
  Format format;
  std::string_view name;
};
constexpr Named kNamed[] = {{Encoding::gzip, Format::gzip, "gzip"},
                            {Encoding::zstd, Format::zstd, "zstd"},
                            {Encoding::xz, Format::xz, "xz"},
                            {Encoding::bzip2, Format::bzip2, "bzip2"}};

}  // namespace

Layer::Layer(Shared& shared, std::string name, int depth, Encoding encoding)
    : shared_(shared), name_(std::move(name)), depth_(depth), encoding_(encoding) {}

Result<void> Layer::feed(std::string_view bytes) {
  if (contents_) return contents_->feed(bytes);

  // Bytes are copied only while the format cannot be decided.
  const std::size_t looked_at = std::min(kFormatBytes - held_.size(), bytes.size());
  if (!held_.empty()) held_.append(bytes.substr(0, looked_at));
  const std::string_view start = held_.empty() ? bytes.substr(0, looked_at) : held_;
  const bool all = start.size() == kFormatBytes;
  const std::optional<Format> format = depth_ < kMaxLayers ? format_of(start, all) : Format::plain;
  if (!format) {
    if (held_.empty()) held_ = bytes;
    return {};
  }
  if (auto decided = decide(*format, start); !decided) return decided;
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
    // Nothing at all is an empty file, whatever its encoding.
    if (held_.empty()) encoding_ = Encoding::detect;
    if (auto decided = decide(format_of(held_, true).value_or(Format::plain), held_); !decided)
      return decided;
    if (!held_.empty())
      if (auto fed = contents_->feed(held_); !fed) {
        (void)contents_->finish();
        return fed;
      }
  }
  return contents_->finish();
}

Result<void> Layer::decide(Format format, std::string_view start) {
  for (const Named& named : kNamed) {
    if (encoding_ != named.encoding || format == named.format) continue;
    refused_ = true;
    return Error{Error::Kind::invalid_input,
                 fmt::format("Content-Encoding says {}, but the body is not", named.name)};
  }
  const auto inner = [this] { return std::make_unique<Layer>(shared_, name_, depth_ + 1); };
  const auto member = [this](std::string_view name) {
    return std::make_unique<Layer>(shared_, fmt::format("{}/{}", name_, name), depth_ + 1);
  };
  switch (format) {
    case Format::gzip:
      contents_ = std::make_unique<GzipStage>(shared_.limits, inner());
      break;
    case Format::zstd:
      contents_ = std::make_unique<ZstdStage>(shared_.limits, inner());
      break;
    case Format::xz:
      contents_ = std::make_unique<XzStage>(shared_.limits, inner());
      break;
    case Format::bzip2:
      contents_ = std::make_unique<Bzip2Stage>(shared_.limits, inner());
      break;
    case Format::tar:
      contents_ = std::make_unique<TarStage>(member);
      break;
    case Format::zip:
      contents_ = std::make_unique<ZipStage>(
          shared_.limits, member,
          [this](std::string_view name, std::string_view why, std::uint64_t bytes) {
            return refuse_member(name, why, bytes);
          });
      break;
    case Format::utf16_little:
    case Format::utf16_big:
      contents_ = std::make_unique<WideTextStage>(2, format == Format::utf16_big, inner());
      break;
    case Format::utf32_little:
    case Format::utf32_big:
      contents_ = std::make_unique<WideTextStage>(4, format == Format::utf32_big, inner());
      break;
    case Format::json:
    case Format::unreadable:
    case Format::plain:
      return open_file(format, start);
  }
  return {};
}

// Opens a file that is passed on as it is, or nearly so.
Result<void> Layer::open_file(Format format, std::string_view start) {
  if (auto within = shared_.limits.file_opened(); !within) return within;
  if (format == Format::unreadable) {
    contents_ =
        std::make_unique<UnreadableStage>(shared_.visitor, name_, unreadable_form(start).hint);
    return {};
  }
  contents_ = std::make_unique<PlainStage>(shared_.visitor, name_);
  if (format == Format::json) contents_ = std::make_unique<JsonStage>(std::move(contents_));
  return {};
}

Result<void> Layer::refuse_member(std::string_view name, std::string_view why,
                                  std::uint64_t bytes) {
  if (auto within = shared_.limits.file_opened(); !within) return within;
  shared_.visitor.open(fmt::format("{}/{}", name_, name));
  shared_.visitor.unreadable(bytes, why);
  shared_.visitor.close();
  return {};
}

}  // namespace faultline::unpacking
