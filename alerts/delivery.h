// Delivery: carries the outbox out, each receiver by a coroutine of its own, in order. What a
// receiver does, or does not do, is felt by no other and by nobody who writes to the store.
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

  // On a thread of its own, until stop(): then messages under way are given up; they are told
  // after the next start.
  // server: where people reach this service.
  void start(ServerAddress server);
  void stop();

  // Tells these from now on; from any thread. A message that is under way to a receiver that
  // changes or goes is finished first; the others notice nothing. What waits for one that has gone
  // goes on waiting.
  void replace(std::vector<Receiver> receivers);

  void wake();  // the outbox has changed; from any thread

  void write(Exposition& out);  // metrics

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Sends the sample to a receiver and waits for its answer; empty: it was accepted, else why not.
std::string try_receiver(const Receiver& receiver, const std::string& external_url, Timestamp now);

}  // namespace faultline
