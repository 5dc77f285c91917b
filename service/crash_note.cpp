#include "service/crash_note.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <utility>

namespace faultline {
namespace {

constexpr std::array kCrashes{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

std::array<char, PATH_MAX> note_file{};
std::array<struct sigaction, kCrashes.size()> before_crash{};
thread_local const std::string* is_at = nullptr;

iovec part_of(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

// Only what is allowed in a handler of signals. Then it leaves the signal to whom it was for.
void on_crash(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const int file = ::open(note_file.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    const std::array line{part_of("crashed "),
                          part_of(is_at == nullptr ? std::string_view{} : *is_at), part_of("\n")};
    [[maybe_unused]] const ssize_t written = ::writev(file, line.data(), line.size());
    ::close(file);
  }
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    if (kCrashes[i] == signal) ::sigaction(signal, &before_crash[i], nullptr);
  errno = error;
  // An instruction that failed fails again. What another process or abort() sent has to be sent
  // again.
  if (info->si_code <= 0) ::raise(signal);
}

// Part of each thread, so that a thread that starts where memory is short needs none for it. It
// ends with its thread.
constexpr std::size_t kOwnStackBytes = std::size_t{32} << 10;
alignas(16) thread_local std::array<char, kOwnStackBytes> own_stack;
thread_local bool looked_for_stack = false;

// Lets a thread whose stack is full say so. Sanitizers have a stack of their own.
void take_own_stack() noexcept {
  if (std::exchange(looked_for_stack, true)) return;
  stack_t there{};
  if (::sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
  const stack_t own{.ss_sp = own_stack.data(), .ss_flags = 0, .ss_size = own_stack.size()};
  ::sigaltstack(&own, nullptr);
}

}  // namespace

void note_crashes_in(const std::filesystem::path& file) {
  const std::string name = std::filesystem::absolute(file).string();
  if (name.size() >= note_file.size()) return;
  note_file.fill('\0');
  std::ranges::copy(name, note_file.begin());
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    ::sigaction(kCrashes[i], &action, &before_crash[i]);
}

void note_no_crashes() {
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    ::sigaction(kCrashes[i], &before_crash[i], nullptr);
}

void crash_note(const std::string* at) noexcept {
  take_own_stack();
  is_at = at;
}

}  // namespace faultline
