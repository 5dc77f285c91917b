// Which findings are sent to which receivers, and from when on.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "alerts/receiver.h"
#include "store/outbox_row.h"

namespace faultline {

// '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view text);

// The receivers of the latest configuration; callable from any thread.
class LiveReceivers {
 public:
  using List = std::shared_ptr<const std::vector<Receiver>>;

  explicit LiveReceivers(std::vector<Receiver> receivers) { replace(std::move(receivers)); }
  List now() const {
    const std::lock_guard lock(mutex_);
    return list_;
  }
  void replace(std::vector<Receiver> receivers) {
    const auto next = std::make_shared<const std::vector<Receiver>>(std::move(receivers));
    const std::lock_guard lock(mutex_);
    list_ = next;
  }

 private:
  mutable std::mutex mutex_;
  List list_;
};

// For AlertRouting::route: depends on nothing but its arguments.
std::vector<Delivery> route(const std::vector<Receiver>& receivers, const AlertSubject& subject);

}  // namespace faultline
