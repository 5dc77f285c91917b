#include "logging/log.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "model/time.h"

namespace faultline {
namespace {

struct LogOutput {
  std::mutex mutex;
  LogFormat format = LogFormat::plain;
  bool is_journal = faultline::is_journal(STDERR_FILENO, std::getenv("JOURNAL_STREAM"));
};

// stderr is one, so this is.
LogOutput& log_output() {
  static LogOutput output;
  return output;
}

// A reader that has gone away, or a full disk, must not stop who speaks.
void write_whole(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string now_as_text() {
  return to_rfc3339(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
}

}  // namespace

bool is_journal(int descriptor, const char* journal_stream) {
  struct stat file{};
  if (journal_stream == nullptr || ::fstat(descriptor, &file) != 0) return false;
  return fmt::format("{}:{}", file.st_dev, file.st_ino) == journal_stream;
}

void set_log_format(LogFormat format) {
  LogOutput& output = log_output();
  const std::lock_guard lock(output.mutex);
  output.format = format;
}

void say(LogLevel level, std::string_view event, std::string_view message,
         std::vector<LogField> fields) {
  const LogEntry entry{level, event, message, std::move(fields)};
  const std::string time = now_as_text();
  LogOutput& output = log_output();
  const std::lock_guard lock(output.mutex);
  write_whole(log_line(entry, output.format, {time, output.is_journal}));
}

}  // namespace faultline
