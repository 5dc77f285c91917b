// Reads the fields of a protobuf message one after the other, and writes them. Without generated
// code: of the messages of shippers we need few fields, and nothing has to be copied.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message);

  struct Field {
    std::uint32_t number = 0;
    // Exactly one of them is set, as the field's wire type says.
    std::string_view bytes;   // a text, bytes or a message
    std::uint64_t value = 0;  // a number, also one of fixed size
  };

  // False: the message ends here, or is damaged.
  bool next(Field& field);

  // Whether all of it could be read.
  bool sound() const { return sound_; }

 private:
  bool read(Field& field);

  google::protobuf::io::CodedInputStream input_;
  int size_;
  bool sound_ = true;
};

class ProtobufWriter {
 public:
  ProtobufWriter& number(std::uint32_t field, std::uint64_t value);
  ProtobufWriter& fixed64(std::uint32_t field, std::uint64_t value);
  ProtobufWriter& bytes(std::uint32_t field, std::string_view value);  // a text, too
  ProtobufWriter& message(std::uint32_t field, const ProtobufWriter& value) {
    return bytes(field, value.message_);
  }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

}  // namespace faultline
