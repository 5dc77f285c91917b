// FolderWatch: wakes the agent when files come, go or change their names.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "ship/log_part.h"

namespace faultline {

class FolderWatch {
 public:
  FolderWatch();

  // Watches these folders and no others.
  void watch(const std::set<std::string>& folders);

  // Waits until something happens in them, `also` (if >= 0) can be read, stop() is called or the
  // time is over. True: files came or went.
  bool wait(std::chrono::milliseconds longest, int also);
  void stop();  // from any thread

 private:
  OpenDescriptor events_;
  OpenDescriptor stop_;
  std::map<std::string, int> watched_;
};

}  // namespace faultline
