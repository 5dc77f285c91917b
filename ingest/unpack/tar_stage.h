// Takes a tar archive apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/unpack/members.h"
#include "ingest/unpack/stage.h"
#include "ingest/unpack/tar_header.h"

namespace faultline::unpacking {

// Sparse files, links, folders and devices are passed over. Archives written one after the other
// are read as one.
class TarStage : public Stage {
 public:
  explicit TarStage(Members::Open open_member);

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  enum class Data { passed_over, of_member, long_name, pax };

  Result<void> take_block(std::string_view block);
  Result<void> take_header(const TarHeader& header);
  Result<void> take_data(std::string_view piece);
  Result<void> end_data();
  void begin_data(Data data, std::uint64_t size);
  Result<void> begin_member(const TarHeader& header);
  Error damaged(std::string_view what) const;

  Members members_;

  std::uint64_t offset_ = 0;
  std::string block_;  // the beginning of a block that came in pieces
  Data data_ = Data::passed_over;
  std::uint64_t remaining_ = 0;  // of the data
  std::uint64_t padding_ = 0;    // after it
  bool sparse_map_follows_ = false;
  std::string collected_;  // a long name or pax records, as far as they came

  PaxRecords next_;  // what was said of the next member
  bool next_described_ = false;
};

}  // namespace faultline::unpacking
