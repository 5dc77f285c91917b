// Takes a zip archive apart while it comes, by the headers before its members, because the
// directory stands at the end.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/unpack/limits.h"
#include "ingest/unpack/members.h"
#include "ingest/unpack/stage.h"
#include "ingest/unpack/zip_header.h"

namespace faultline::unpacking {

// Folders are passed over. If a member cannot be read (encrypted, packed in another way), it is
// refused with the reason.
class ZipStage : public Stage {
 public:
  using Refuse =
      std::function<Result<void>(std::string_view name, std::string_view why, std::uint64_t bytes)>;
  ZipStage(Limits& limits, Members::Open open_member, Refuse refuse_member);
  ~ZipStage() override;
  ZipStage(const ZipStage&) = delete;
  ZipStage& operator=(const ZipStage&) = delete;

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  enum class State { header, data, unsized, descriptor, directory };
  enum class Packing { passed_over, stored, deflated };

  Result<void> take_header(std::string_view& bytes);
  Result<void> begin_member();
  Result<void> take_data(std::string_view& bytes);
  Result<void> take_unsized(std::string_view& bytes);
  Result<void> give_unsized(std::string_view data);
  Result<void> take_descriptor(std::string_view& bytes);
  Result<void> inflate_data(std::string_view& bytes);
  Result<void> give(std::string_view piece);
  Result<void> end_data();
  Result<void> end_member(std::uint32_t crc);
  bool collect(std::string_view& bytes, std::size_t size);
  ZipMeasure measure() const;
  Error damaged(std::string_view what) const;

  Limits& limits_;
  Members members_;
  Refuse refuse_;

  State state_ = State::header;
  std::uint64_t offset_ = 0;  // of what is collected or read next
  std::string collected_;     // a header or a descriptor, as far as it came

  // Of the member in hand.
  Packing packing_ = Packing::passed_over;
  bool sized_ = true;
  bool described_ = false;
  bool inflated_ = false;  // its deflated data have ended
  std::uint32_t said_crc_ = 0;
  std::uint64_t remaining_ = 0;  // of its data, if that is known
  std::uint64_t packed_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;

  z_stream stream_{};
  std::unique_ptr<char[]> buffer_;
};

}  // namespace faultline::unpacking
