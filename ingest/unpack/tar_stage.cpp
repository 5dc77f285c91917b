#include "ingest/unpack/tar_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace faultline::unpacking {
namespace {

// Names end at 4 KiB; pax records also hold extended attributes, which the kernel limits to 64 KiB
// each.
constexpr std::uint64_t kMaxDescription = std::uint64_t{1} << 20;

// Links, folders and devices may name a size, but nothing follows them.
bool has_data(char type) { return type < '1' || type > '6'; }

bool is_regular(const TarHeader& header) {
  return (header.type == '0' || header.type == '7') && !header.name.ends_with('/');
}

}  // namespace

TarStage::TarStage(Members::Open open_member) : members_(std::move(open_member)) {}

Result<void> TarStage::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t used = 0;
    if (remaining_ > 0 && !sparse_map_follows_) {
      used = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size()));
      remaining_ -= used;
      if (auto taken = take_data(bytes.substr(0, used)); !taken) return taken;
      if (remaining_ == 0)
        if (auto ended = end_data(); !ended) return ended;
    } else if (padding_ > 0 && !sparse_map_follows_) {
      used = static_cast<std::size_t>(std::min<std::uint64_t>(padding_, bytes.size()));
      padding_ -= used;
    } else if (block_.empty() && bytes.size() >= kTarBlock) {
      used = kTarBlock;
      if (auto taken = take_block(bytes.substr(0, used)); !taken) return taken;
    } else {
      used = std::min(kTarBlock - block_.size(), bytes.size());
      block_.append(bytes.substr(0, used));
      if (block_.size() == kTarBlock) {
        const std::string block = std::exchange(block_, {});
        if (auto taken = take_block(block); !taken) return taken;
      }
    }
    bytes.remove_prefix(used);
    offset_ += used;
  }
  return {};
}

Result<void> TarStage::finish() {
  const bool broken_off =
      remaining_ > 0 || padding_ > 0 || !block_.empty() || sparse_map_follows_ || next_described_;
  const std::string broken_member = members_.is_open() ? members_.name() : "";
  Result<void> closed = members_.close();
  if (broken_off) {
    return Error{
        Error::Kind::invalid_input,
        fmt::format("the tar archive breaks off after {} bytes{}; what came before was read",
                    offset_, broken_member.empty() ? "" : fmt::format(", in {}", broken_member))};
  }
  if (members_.first_error()) return *members_.first_error();
  return closed;
}

Result<void> TarStage::take_block(std::string_view block) {
  if (sparse_map_follows_) {
    sparse_map_follows_ = sparse_map_continues(block);
    return {};
  }
  // Zeros end an archive; another one may have been written behind it.
  if (is_zero(block)) return {};
  const std::optional<TarHeader> header = parse_tar_header(block);
  if (!header) return damaged("no member begins there");
  return take_header(*header);
}

Result<void> TarStage::take_header(const TarHeader& header) {
  switch (header.type) {
    case 'L':
    case 'x':
    case 'X':
      if (header.size > kMaxDescription) return damaged("a member's description is too long");
      next_described_ = true;
      begin_data(header.type == 'L' ? Data::long_name : Data::pax, header.size);
      break;
    case 'K':  // the long target of a link
    case 'g':  // applies to all members; usually comments
      begin_data(Data::passed_over, header.size);
      break;
    default:
      if (auto begun = begin_member(header); !begun) return begun;
  }
  return remaining_ == 0 ? end_data() : Result<void>{};
}

Result<void> TarStage::begin_member(const TarHeader& header) {
  const PaxRecords said = std::exchange(next_, {});
  next_described_ = false;
  TarHeader member = header;
  if (said.path) member.name = *said.path;
  if (said.size) member.size = *said.size;
  sparse_map_follows_ = member.extended_sparse;

  if (!is_regular(member) || said.sparse) {
    begin_data(Data::passed_over, has_data(member.type) ? member.size : 0);
    return {};
  }
  begin_data(Data::of_member, member.size);
  members_.begin(member.name);
  return {};
}

void TarStage::begin_data(Data data, std::uint64_t size) {
  data_ = data;
  remaining_ = size;
  padding_ = (kTarBlock - size % kTarBlock) % kTarBlock;
  collected_.clear();
}

Result<void> TarStage::take_data(std::string_view piece) {
  switch (data_) {
    case Data::passed_over:
      return {};
    case Data::long_name:
    case Data::pax:
      collected_.append(piece);
      return {};
    case Data::of_member:
      break;
  }
  return members_.feed(piece);
}

Result<void> TarStage::end_data() {
  switch (data_) {
    case Data::passed_over:
      break;
    case Data::of_member:
      return members_.close();
    case Data::long_name:
      next_.path = collected_.substr(0, collected_.find('\0'));
      break;
    case Data::pax: {
      std::optional<PaxRecords> records = parse_pax(collected_);
      if (!records) return damaged("a pax header cannot be read");
      next_ = std::move(*records);
      break;
    }
  }
  return {};
}

Error TarStage::damaged(std::string_view what) const {
  return Error{Error::Kind::invalid_input,
               fmt::format("the tar archive is damaged at byte {}: {}; what came before was read",
                           offset_, what)};
}

}  // namespace faultline::unpacking
