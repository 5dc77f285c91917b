#include "simulate/voice.h"

#include "simulate/calendar.h"

namespace faultline::simulation {

std::int64_t Voice::thread(Thread thread, int slot) const {
  const std::int64_t apart = std::int64_t{16} * slot;
  switch (thread) {
    case Thread::application:
      return pid_;
    case Thread::init:
      return pid_ + 120 + apart;
    case Thread::connect:
      return pid_ + 1'420 + apart;
    case Thread::service:
      return pid_ + 101;
    case Thread::uds:
      return pid_ + 102;
    case Thread::progress:
      return pid_ + 103;
    case Thread::async_event:
      return pid_ + 104;
    case Thread::destroy:
      return pid_ + 2'900 + apart;
  }
  return pid_;
}

std::string Voice::info_prefix(Thread thread_kind, int slot) const {
  // A thread that sets no device prints the number of the first GPU.
  const int device = thread_kind == Thread::async_event ? 0 : device_;
  return fmt::format("{}:{}:{} [{}] NCCL INFO ", host_, pid_, thread(thread_kind, slot), device);
}

void Voice::say(std::string& out, const Words& words, Timestamp now) const {
  if (!words.warn) {
    info(out, words.thread, 0, "{}", words.message);
    return;
  }
  const int device = words.thread == Thread::async_event ? 0 : device_;
  const std::string stamp = version_.since(26, 2) ? "[" + day_and_second(now) + "] " : "";
  const std::string function = version_.since(30, 7) ? " (" + words.function + ")" : "";
  fmt::format_to(std::back_inserter(out), "\n{}{}:{}:{} [{}] {}{} NCCL WARN {}\n", stamp, host_,
                 pid_, thread(words.thread), device, words.place, function, words.message);
}

}  // namespace faultline::simulation
