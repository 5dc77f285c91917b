#include "ingest/unpack/tar_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace faultline::unpacking {
namespace {

// Names end at 4 KiB; pax records also hold extended attributes, which the kernel limits to 64 KiB
// each.
constexpr std::uint64_t kMaxDescription = std::uint64_t{1} << 20;

// As "tar -x" would name it below the current folder, and harmless to print.
std::string tidy_name(std::string_view name) {
  while (true) {
    if (name.starts_with('/'))
      name.remove_prefix(1);
    else if (name.starts_with("./"))
      name.remove_prefix(2);
    else
      break;
  }
  std::string tidy(name.substr(0, name.find('\0')));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(tidy.begin(), tidy.end(), is_control, '?');
  return tidy;
}

// Links, folders and devices may name a size, but nothing follows them.
bool has_data(char type) { return type < '1' || type > '6'; }

bool is_regular(const TarHeader& header) {
  return (header.type == '0' || header.type == '7') && !header.name.ends_with('/');
}

}  // namespace

TarStage::TarStage(OpenMember open_member) : open_member_(std::move(open_member)) {}

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
  const std::string broken_member = member_ ? member_name_ : "";
  if (auto closed = close_member(); !closed && !first_error_) first_error_ = closed.error();
  if (broken_off) {
    return Error{
        Error::Kind::invalid_input,
        fmt::format("the tar archive breaks off after {} bytes{}; what came before was read",
                    offset_, broken_member.empty() ? "" : fmt::format(", in {}", broken_member))};
  }
  if (first_error_) return *first_error_;
  return {};
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
    case 'g':  // what holds for all members: comments, as a rule
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
  member_name_ = tidy_name(member.name);
  member_ = open_member_(member_name_);
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
  if (!member_) return {};  // damaged further up; the rest of it is passed over
  Result<void> fed = member_->feed(piece);
  if (fed) return {};
  if (fed.error().kind == Error::Kind::too_large) return fed;
  Result<void> noted = note_member_error(fed.error());
  (void)member_->finish();  // the first complaint is the one that helps
  member_.reset();
  return noted;
}

Result<void> TarStage::end_data() {
  switch (data_) {
    case Data::passed_over:
      break;
    case Data::of_member:
      return close_member();
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

Result<void> TarStage::close_member() {
  if (!member_) return {};
  const StagePtr member = std::move(member_);
  Result<void> finished = member->finish();
  if (finished) return {};
  return note_member_error(finished.error());
}

Result<void> TarStage::note_member_error(Error error) {
  error.message = fmt::format("in {}: {}", member_name_, error.message);
  if (error.kind == Error::Kind::too_large) return error;
  if (!first_error_) first_error_ = std::move(error);
  return {};
}

Error TarStage::damaged(std::string_view what) const {
  return Error{Error::Kind::invalid_input,
               fmt::format("the tar archive is damaged at byte {}: {}; what came before was read",
                           offset_, what)};
}

}  // namespace faultline::unpacking
