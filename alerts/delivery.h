// Delivery: sends what the outbox holds, in order. Each receiver has its own coroutine: a slow or
// broken one delays neither other receivers nor anyone who writes to the store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "alerts/exposition.h"
#include "alerts/receiver.h"
#include "store/store.h"

namespace faultline {

struct DeliveryOptions {
  std::vector<Receiver> receivers;
  std::function<Timestamp()> clock;
};

class AlertDelivery {
 public:
  AlertDelivery(Store& store, DeliveryOptions options);
  ~AlertDelivery();  // stops
  AlertDelivery(const AlertDelivery&) = delete;
  AlertDelivery& operator=(const AlertDelivery&) = delete;

  // Runs on its own thread until stop(). That gives messages under way a moment, then drops them;
  // they are sent after the next start.
  // server: the URL at which people reach this service.
  void start(ServerAddress server);
  void stop();

  // Sends to these receivers from now on; callable from any thread. If a receiver changes or goes,
  // a message under way to it is finished first. Unchanged receivers are not disturbed. Rows for a
  // receiver that has gone stay in the outbox.
  void replace(std::vector<Receiver> receivers);

  void wake();  // the outbox has changed; callable from any thread

  void write(Exposition& out);  // metrics

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Sends a sample to a receiver and waits for the answer. Returns why it was not accepted, or an
// empty text.
std::string try_receiver(const Receiver& receiver, const std::string& external_url, Timestamp now);

}  // namespace faultline
