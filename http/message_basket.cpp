#include "http/message_basket.h"

#include <utility>

namespace faultline {
namespace {

const LabelNames& names_of_labels() {
  static const LabelNames names;
  return names;
}

}  // namespace

MessageBatch::MessageBatch(DestinationDefaults for_all)
    : defaults(std::move(for_all)), lines(names_of_labels(), defaults) {}

bool MessageBasket::has_room_for(Sender sender) const {
  if (batch_ == nullptr) return true;
  const std::size_t most = sender == Sender::waits ? kMostBytes / 2 : kMostBytes;
  const SourceLines& lines = batch_->lines;
  return lines.bytes() < most && !lines.full() && !lines.too_large();
}

RecordVisitor& MessageBasket::place_for(std::size_t bytes, const std::string& sender) {
  if (batch_ == nullptr) batch_ = std::make_unique<MessageBatch>(defaults_);
  batch_->received += bytes;
  batch_->lines.limit_growth(batch_->received);
  batch_->defaults.sender = sender;
  batch_->lines.begin_stream();  // of another sender, maybe
  return batch_->lines;
}

}  // namespace faultline
