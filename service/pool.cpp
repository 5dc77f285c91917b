#include "service/pool.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include "service/crash_note.h"

namespace faultline {

Pool::Pool(std::size_t threads)
    : context_(static_cast<int>(threads)), work_(context_.get_executor()) {
  try {
    for (std::size_t i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        // A crash of this thread is noted, too. So is an exception: nothing catches it here,
        // because the note has to say what was at work.
        crash_note(nullptr);
        context_.run();
      });
  } catch (const std::bad_alloc&) {
    context_.stop();  // those that run would be waited for
    throw;
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
