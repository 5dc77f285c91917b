#include "ingest/unpack/zip_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 10;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

Bytef* zlib_bytes(const char* bytes) {
  // zlib does not write to its input; its declaration says so only with ZLIB_CONST.
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

// Where a descriptor with its signature may begin, cut off or not.
std::size_t descriptor_in(std::string_view bytes, std::size_t from) {
  std::size_t at = bytes.find('P', from);
  while (at != std::string_view::npos &&
         !kZipDescriptor.starts_with(bytes.substr(at, kZipSignature)))
    at = bytes.find('P', at + 1);
  return at;
}

}  // namespace

ZipStage::ZipStage(Limits& limits, Members::Open open_member, Refuse refuse_member)
    : limits_(limits),
      members_(std::move(open_member)),
      refuse_(std::move(refuse_member)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {
  if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

ZipStage::~ZipStage() { inflateEnd(&stream_); }

Result<void> ZipStage::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    Result<void> taken;
    switch (state_) {
      case State::header:
        taken = take_header(bytes);
        break;
      case State::data:
        taken = take_data(bytes);
        break;
      case State::unsized:
        taken = take_unsized(bytes);
        break;
      case State::descriptor:
        taken = take_descriptor(bytes);
        break;
      case State::directory:
        return {};
    }
    if (!taken) return taken;
  }
  return {};
}

// True: that much of a header or descriptor is there.
bool ZipStage::collect(std::string_view& bytes, std::size_t size) {
  const std::size_t missing = size - std::min(size, collected_.size());
  collected_.append(bytes.substr(0, missing));
  bytes.remove_prefix(std::min(missing, bytes.size()));
  return collected_.size() >= size;
}

Result<void> ZipStage::take_header(std::string_view& bytes) {
  if (!collect(bytes, kZipSignature)) return {};
  if (begins_zip_directory(collected_)) {
    state_ = State::directory;
    collected_.clear();
    return {};
  }
  if (!collected_.starts_with(kZipMember)) return damaged("no member begins there");
  if (!collect(bytes, kZipHeader) || !collect(bytes, zip_header_size(collected_))) return {};
  return begin_member();
}

Result<void> ZipStage::begin_member() {
  const ZipHeader header = parse_zip_header(collected_);
  const bool folder = header.name.ends_with('/') || header.name.ends_with('\\');
  const bool readable =
      !header.encrypted && (header.method == kStored || header.method == kDeflated);
  described_ = header.described;
  sized_ = !described_ || header.packed > 0;
  said_crc_ = header.crc;
  remaining_ = header.packed;
  packed_ = size_ = 0;
  crc_ = 0;
  inflated_ = false;
  packing_ = !readable                    ? Packing::passed_over
             : header.method == kDeflated ? Packing::deflated
                                          : Packing::stored;
  if (packing_ == Packing::deflated) inflateReset(&stream_);
  if (!readable && !folder) {
    const std::string why =
        header.encrypted
            ? "It is encrypted in its zip archive; unpack it with its password and send it again."
            : fmt::format(
                  "It is packed by method {} of zip, which Faultline cannot read; unpack it, or "
                  "pack it with zip's default (deflate).",
                  header.method);
    if (auto told = refuse_(tidy_name(header.name), why, header.packed); !told) return told;
  }
  if (folder) packing_ = packing_ == Packing::deflated ? packing_ : Packing::passed_over;
  if (readable && !folder) members_.begin(header.name);
  offset_ += zip_header_size(collected_);
  collected_.erase(0, zip_header_size(collected_));
  state_ = sized_ || packing_ == Packing::deflated ? State::data : State::unsized;
  return sized_ && remaining_ == 0 ? end_data() : Result<void>{};
}

Result<void> ZipStage::take_data(std::string_view& bytes) {
  std::string_view piece = bytes;
  if (sized_)
    piece = piece.substr(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, piece.size())));
  const std::size_t given = piece.size();
  Result<void> taken;
  if (packing_ == Packing::deflated)
    taken = inflate_data(piece);
  else
    taken = give(std::exchange(piece, {}));
  // Bytes behind the end of deflated data that the header still counts as data are passed over.
  const std::size_t used = sized_ ? given : given - piece.size();
  bytes.remove_prefix(used);
  packed_ += used;
  offset_ += used;
  remaining_ -= sized_ ? used : 0;
  if (!taken) return taken;
  return (sized_ ? remaining_ == 0 : inflated_) ? end_data() : Result<void>{};
}

Result<void> ZipStage::inflate_data(std::string_view& bytes) {
  if (inflated_) return {};
  const std::size_t given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
  stream_.next_in = zlib_bytes(bytes.data());
  stream_.avail_in = static_cast<uInt>(given);
  int status = Z_OK;
  Result<void> given_on;
  do {
    stream_.next_out = zlib_bytes(buffer_.get());
    stream_.avail_out = static_cast<uInt>(kBuffer);
    status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t size = kBuffer - stream_.avail_out;
    if (size == 0) continue;
    given_on = limits_.inflated(size);
    if (given_on) given_on = give({buffer_.get(), size});
  } while (given_on && status == Z_OK && (stream_.avail_in > 0 || stream_.avail_out == 0));
  bytes.remove_prefix(given - stream_.avail_in);
  if (!given_on) return given_on;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  inflated_ = status == Z_STREAM_END;
  // Z_BUF_ERROR: it asks for more input.
  if (inflated_ || status == Z_OK || status == Z_BUF_ERROR) return {};
  if (!sized_) return damaged("its data cannot be inflated");
  inflated_ = true;
  return members_.damaged(
      {Error::Kind::invalid_input,
       fmt::format("its data are damaged ({}); what came before was read",
                   stream_.msg != nullptr ? stream_.msg : "preset dictionary")});
}

Result<void> ZipStage::give(std::string_view piece) {
  size_ += piece.size();
  if (packing_ == Packing::passed_over) return {};
  crc_ = static_cast<std::uint32_t>(crc32_z(crc_, zlib_bytes(piece.data()), piece.size()));
  return members_.feed(piece);
}

// Reads stored data whose size was not known when it was written: it ends where a descriptor says
// so. A descriptor without a signature does not count: it cannot be distinguished from data if the
// bytes may be cut anywhere.
Result<void> ZipStage::take_unsized(std::string_view& bytes) {
  if (collected_.empty()) {
    const std::string_view data = bytes.substr(0, descriptor_in(bytes, 0));
    bytes.remove_prefix(data.size());
    if (auto given = give_unsized(data); !given) return given;
  }
  while (collect(bytes, kLongestZipDescriptor)) {
    if (collected_.starts_with(kZipDescriptor) && parse_zip_descriptor(collected_, measure())) {
      state_ = State::descriptor;
      return take_descriptor(bytes);
    }
    const std::string data = collected_.substr(0, descriptor_in(collected_, 1));
    collected_.erase(0, data.size());
    if (auto given = give_unsized(data); !given || collected_.empty()) return given;
  }
  return {};
}

Result<void> ZipStage::give_unsized(std::string_view data) {
  packed_ += data.size();
  offset_ += data.size();
  return give(data);
}

ZipMeasure ZipStage::measure() const {
  return {packed_,
          packing_ == Packing::passed_over ? std::nullopt : std::optional<std::uint64_t>(size_)};
}

Result<void> ZipStage::take_descriptor(std::string_view& bytes) {
  if (!collect(bytes, kLongestZipDescriptor)) return {};
  const std::optional<ZipDescriptor> descriptor = parse_zip_descriptor(collected_, measure());
  if (!descriptor) return damaged("the descriptor of a member is wrong");
  offset_ += descriptor->length;
  collected_.erase(0, descriptor->length);
  return end_member(descriptor->crc);
}

Result<void> ZipStage::end_data() {
  if (packing_ == Packing::deflated && !inflated_) {
    if (auto noted = members_.damaged(
            {Error::Kind::invalid_input, "its data break off; what came before was read"});
        !noted)
      return noted;
  }
  if (!described_) return end_member(said_crc_);
  state_ = State::descriptor;
  return {};
}

Result<void> ZipStage::end_member(std::uint32_t crc) {
  state_ = State::header;
  if (members_.is_open() && crc != crc_)
    return members_.damaged(
        {Error::Kind::invalid_input, "its checksum is wrong; what it held was read all the same"});
  return members_.close();
}

Result<void> ZipStage::finish() {
  const bool broken_off = state_ != State::directory;
  if (state_ == State::unsized) {
    if (auto given = give(std::exchange(collected_, {})); !given) return given;
  }
  const std::string member = members_.is_open() ? members_.name() : "";
  Result<void> closed = members_.close();
  if (broken_off)
    return Error{
        Error::Kind::invalid_input,
        fmt::format("the zip archive breaks off after {} bytes{}; what came before was read",
                    offset_ + collected_.size(), member.empty() ? "" : ", in " + member)};
  if (members_.first_error()) return *members_.first_error();
  return closed;
}

Error ZipStage::damaged(std::string_view what) const {
  return {Error::Kind::invalid_input,
          fmt::format("the zip archive is damaged at byte {}: {}; what came before was read",
                      offset_, what)};
}

}  // namespace faultline::unpacking
