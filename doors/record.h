// A record: one message of a log as a shipper sends it, with what the shipper says about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/time.h"

namespace faultline {

// Gets the records of a body one after the other. Views are valid only during the call.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;

  // The labels given from here on belong to one stream; those of the stream before do not.
  virtual void begin_stream() = 0;
  virtual void stream_label(std::string_view name, std::string_view value) = 0;

  // A label of the next record only.
  virtual void label(std::string_view name, std::string_view value) = 0;

  // A message as its program wrote it; it may have several lines.
  virtual void message(std::optional<Timestamp> time, std::string_view text) = 0;
  // The same, but its stamp names no zone, so `time` only has its digits.
  virtual void message_at_local_time(Timestamp time, std::string_view text) = 0;

  // A record that the readers of logs take apart themselves: an object of JSON.
  virtual void object(std::string_view json) = 0;

  // What should have been a record and is none.
  virtual void unreadable() = 0;
};

}  // namespace faultline
