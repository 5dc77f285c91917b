#include "ship/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <iterator>

namespace faultline {

FolderWatch::FolderWatch()
    : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), stop_(eventfd(0, EFD_CLOEXEC)) {}

// A folder that cannot be watched (a network's file system, too many watches) is looked at from
// time to time all the same.
void FolderWatch::watch(const std::set<std::string>& folders) {
  for (auto old = watched_.begin(); old != watched_.end();) {
    if (!folders.contains(old->first)) {
      inotify_rm_watch(events_.get(), old->second);
      old = watched_.erase(old);
    } else {
      ++old;
    }
  }
  for (const std::string& folder : folders) {
    if (watched_.contains(folder)) continue;
    // Not each write: a busy log has thousands in a second.
    const int number =
        inotify_add_watch(events_.get(), folder.c_str(),
                          IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR);
    if (number >= 0) watched_.emplace(folder, number);
  }
}

bool FolderWatch::wait(std::chrono::milliseconds longest, int also) {
  std::array<pollfd, 3> wanted{
      {{events_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}, {also, POLLIN, 0}}};
  poll(wanted.data(), wanted.size(), static_cast<int>(longest.count()));
  alignas(inotify_event) std::array<char, 16384> events;
  bool any = false;
  while (read(events_.get(), events.data(), events.size()) > 0) any = true;
  return any;
}

void FolderWatch::stop() {
  const std::uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
}

}  // namespace faultline
