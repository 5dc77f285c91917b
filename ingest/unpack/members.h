// The members of an archive, one after the other: each regular file becomes its own stage. A
// damaged member (a gzip file that breaks off) does not end the archive: the members after it are
// read, and first_error() returns its error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class Members {
 public:
  using Open = std::function<StagePtr(std::string_view name)>;
  explicit Members(Open open) : open_(std::move(open)) {}

  void begin(std::string_view name);
  bool is_open() const { return member_ != nullptr; }
  const std::string& name() const { return name_; }

  // These return an error only if it ends the whole archive. A damaged member ignores more bytes.
  Result<void> feed(std::string_view piece);
  Result<void> close();
  Result<void> damaged(Error error);  // the archive itself found the damage

  const std::optional<Error>& first_error() const { return first_error_; }

 private:
  Result<void> note(Error error);

  Open open_;
  StagePtr member_;
  std::string name_;
  std::optional<Error> first_error_;
};

// As "tar -x" would name it below the current folder, and harmless to print.
std::string tidy_name(std::string_view name);

}  // namespace faultline::unpacking
