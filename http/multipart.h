// multipart/form-data, as curl -F sends it, taken apart while it arrives.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

// The boundary a Content-Type names; nothing if it is not multipart/form-data or names none.
std::optional<std::string> multipart_boundary(std::string_view content_type);
bool is_multipart(std::string_view content_type);

// The name of the file in a Content-Disposition; nothing if it has none.
std::optional<std::string> disposed_filename(std::string_view disposition);

class PartVisitor {
 public:
  virtual ~PartVisitor() = default;
  virtual void open_part(std::string_view filename) = 0;  // the field's name if there is none
  virtual void part_bytes(std::string_view piece) = 0;
  virtual void close_part() = 0;
};

class MultipartParser {
 public:
  static constexpr std::size_t kMaxPartHeaderBytes = 16 << 10;

  MultipartParser(std::string_view boundary, PartVisitor& visitor);

  Result<void> feed(std::string_view bytes);
  Result<void> finish();  // an error if the closing boundary is missing

 private:
  enum class Place { before, after_boundary, part_headers, part_body, done };

  bool step(Result<void>& outcome);
  Result<void> open_part(std::string_view headers);

  std::string delimiter_;  // "\r\n--boundary"
  PartVisitor& visitor_;
  Place place_ = Place::before;
  std::string buffer_;  // from at_ on not decided yet
  std::size_t at_ = 0;
};

}  // namespace faultline
