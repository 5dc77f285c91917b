#include "doors/protobuf.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

namespace faultline {
namespace {

// The last three bits of a field's tag.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

template <class Write>
void append_to(std::string& message, std::uint32_t field, WireType type, Write write) {
  google::protobuf::io::StringOutputStream stream(&message);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.WriteTag(field << 3 | type);
  write(out);
}

}  // namespace

// A body has at most some megabytes, which the handlers of doors make sure of.
ProtobufFields::ProtobufFields(std::string_view message)
    : input_(
          reinterpret_cast<const std::uint8_t*>(message.data()),
          message.size() <= std::numeric_limits<int>::max() ? static_cast<int>(message.size()) : 0),
      size_(static_cast<int>(message.size())),
      sound_(message.size() <= std::numeric_limits<int>::max()) {}

bool ProtobufFields::next(Field& field) {
  if (!sound_ || input_.CurrentPosition() == size_) return false;
  sound_ = read(field);
  return sound_;
}

bool ProtobufFields::read(Field& field) {
  const std::uint32_t tag = input_.ReadTag();
  field = {.number = tag >> 3};
  if (field.number == 0) return false;
  switch (tag & 7) {
    case kVarint:
      return input_.ReadVarint64(&field.value);
    case kFixed64:
      return input_.ReadLittleEndian64(&field.value);
    case kFixed32: {
      std::uint32_t value = 0;
      const bool read = input_.ReadLittleEndian32(&value);
      field.value = value;
      return read;
    }
    case kLengthDelimited: {
      std::uint32_t length = 0;
      if (!input_.ReadVarint32(&length)) return false;
      if (length == 0) return true;
      const void* bytes = nullptr;
      int there = 0;
      if (!input_.GetDirectBufferPointer(&bytes, &there)) return false;
      if (length > static_cast<std::uint32_t>(there)) return false;
      field.bytes = {static_cast<const char*>(bytes), length};
      return input_.Skip(static_cast<int>(length));
    }
    default:
      return false;  // groups, which no shipper sends
  }
}

using google::protobuf::io::CodedOutputStream;

ProtobufWriter& ProtobufWriter::number(std::uint32_t field, std::uint64_t value) {
  append_to(message_, field, kVarint, [&](CodedOutputStream& out) { out.WriteVarint64(value); });
  return *this;
}

ProtobufWriter& ProtobufWriter::fixed64(std::uint32_t field, std::uint64_t value) {
  append_to(message_, field, kFixed64,
            [&](CodedOutputStream& out) { out.WriteLittleEndian64(value); });
  return *this;
}

ProtobufWriter& ProtobufWriter::bytes(std::uint32_t field, std::string_view value) {
  append_to(message_, field, kLengthDelimited, [&](CodedOutputStream& out) {
    out.WriteVarint64(value.size());
    out.WriteRaw(value.data(), static_cast<int>(value.size()));
  });
  return *this;
}

}  // namespace faultline
