#include "service/pool.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>

#include "service/crash_note.h"

namespace faultline {
namespace {

// Linux has a nice value for each thread. It can only be raised, and by anybody. With this much, a
// thread gets a third of what another gets.
void be_nice() {
  constexpr int kNice = 5;
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + kNice);
}

}  // namespace

Pool::Pool(std::size_t threads, Yields yields)
    : context_(static_cast<int>(threads)), work_(context_.get_executor()) {
  try {
    for (std::size_t i = 0; i < threads; ++i)
      threads_.emplace_back([this, yields] {
        if (yields == Yields::yes) be_nice();
        crash_note(nullptr);  // a crash of this thread is noted, too
        context_.run();
      });
  } catch (const std::system_error& refused) {
    context_.stop();
    throw std::runtime_error(
        fmt::format("only {} of {} threads can be started ({}); allow more memory or threads",
                    threads_.size(), threads, refused.code().message()));
  }
}

void Pool::join() {
  work_.reset();
  threads_.clear();
}

}  // namespace faultline
