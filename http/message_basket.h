// MessageBasket: gathers the messages of all senders of a protocol without answers, until they are
// stored together: many messages for each commit. What it holds is bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "doors/record.h"
#include "doors/source_lines.h"

namespace faultline {

// The messages that are stored together.
struct MessageBatch {
  explicit MessageBatch(DestinationDefaults for_all);
  MessageBatch(const MessageBatch&) = delete;
  MessageBatch& operator=(const MessageBatch&) = delete;

  DestinationDefaults defaults;  // `lines` refers to it
  SourceLines lines;
  std::size_t received = 0;  // bytes of its messages
};

class MessageBasket {
 public:
  // Who can be told to wait fills half of it. The rest is for datagrams, which are lost if there is
  // no room.
  enum class Sender { waits, does_not_wait };
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  explicit MessageBasket(DestinationDefaults defaults) : defaults_(std::move(defaults)) {}

  // Whether a message finds room, whatever it is. Ask before each.
  bool has_room_for(Sender sender) const;

  // Where to put a message of so many bytes that comes from this address.
  RecordVisitor& place_for(std::size_t bytes, const std::string& sender);

  // Null: there is nothing in it.
  std::unique_ptr<MessageBatch> take() { return std::move(batch_); }

 private:
  DestinationDefaults defaults_;
  std::unique_ptr<MessageBatch> batch_;
};

}  // namespace faultline
