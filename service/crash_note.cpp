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
#include <vector>

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

// Lets a thread whose stack is full say so. Sanitizers have one of their own.
class OwnStack {
 public:
  OwnStack() {
    stack_t there{};
    if (::sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
    bytes_.resize(kBytes);
    const stack_t own{.ss_sp = bytes_.data(), .ss_flags = 0, .ss_size = bytes_.size()};
    is_used_ = ::sigaltstack(&own, nullptr) == 0;
  }
  ~OwnStack() {
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (is_used_) ::sigaltstack(&none, nullptr);
  }
  OwnStack(const OwnStack&) = delete;
  OwnStack& operator=(const OwnStack&) = delete;

 private:
  std::vector<char> bytes_;
  static constexpr std::size_t kBytes = std::size_t{32} << 10;

  bool is_used_ = false;
};

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

void crash_note(const std::string* at) {
  static thread_local const OwnStack kStack;
  [[maybe_unused]] const OwnStack* used = &kStack;  // made when it is first used
  is_at = at;
}

}  // namespace faultline
