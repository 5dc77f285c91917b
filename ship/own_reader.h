// OwnReader: reads logs on their host, as a server of the same version does.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/reader.h"

namespace faultline {

class OwnReader {
 public:
  OwnReader();

  const std::string& version() const { return version_; }

  // See read_at_the_edge().
  std::optional<std::string> read(Cursor& cursor, std::string_view bytes) const;

 private:
  std::string version_;
  std::shared_ptr<const Noteworthy> noteworthy_;
};

// What is known of the server's reader in one log: its memory, with which we may read on.
class LogMemory {
 public:
  using Clock = std::chrono::steady_clock;

  const std::optional<Cursor>& cursor() const { return cursor_; }

  // The server was asked, and its answer may still come. What comes next has to wait for it.
  bool waits(Clock::time_point now) const;
  bool may_ask(Clock::time_point now) const { return !cursor_ && now >= ask_after_; }
  // The server is to be asked, but some of the log is still on its way to it. What comes next waits
  // a moment for that: else a log that grows quickly would never be read here.
  bool waits_for_rest(Clock::time_point now);
  void ask(Clock::time_point now);
  // Nothing: the server does not say it.
  void answer(std::optional<Cursor> cursor, Clock::time_point now);

  // Blocks of the next bytes. Nothing: they are sent as they are, and the server reads them.
  std::optional<std::string> read(const OwnReader& reader, std::uint64_t from,
                                  std::string_view bytes, Clock::time_point now);

  void forget() { cursor_.reset(), asked_at_.reset(); }

 private:
  std::optional<Cursor> cursor_;
  std::optional<Clock::time_point> asked_at_;
  Clock::time_point ask_after_ = Clock::now();
};

}  // namespace faultline
