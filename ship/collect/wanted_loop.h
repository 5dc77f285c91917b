// WantedLoop: asks the server what it wants to know, and lets the EvidenceCollector get it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "ship/collect/collector.h"
#include "ship/server_link.h"

namespace faultline {

class WantedLoop {
 public:
  WantedLoop(ShipServer server, std::string host, EvidenceCollector& collector);

  // On a thread of its own, until stop() is called.
  void run();
  void stop();  // from any thread

 private:
  // How long until it asks again.
  std::chrono::milliseconds ask_once();
  std::chrono::milliseconds answer(const std::string& body);
  void tell_outcomes();
  void set_trouble(std::string trouble);
  std::chrono::milliseconds later();

  const std::string host_;
  EvidenceCollector& collector_;
  ServerLink link_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::string> untold_;  // outcomes, as JSON, that the server does not know yet
  int vain_ = 0;                    // attempts in a row that led to nothing
  std::string trouble_;
};

}  // namespace faultline
