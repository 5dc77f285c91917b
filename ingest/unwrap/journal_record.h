// A record of systemd's journal, as far as it matters here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"
#include "ingest/unwrap/text_pool.h"

namespace faultline {

struct JournalRecord {
  static constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 10;

  std::optional<std::string> message;
  std::string host;
  std::string identifier;
  std::string transport;
  std::string facility;
  std::string received_us;  // when journald got it; written_us: when its sender says it wrote it
  std::string written_us;
  std::string received_uptime_us;
  std::string written_uptime_us;

  static bool wants(std::string_view key);

  // Other keys are ignored, and so are values too long to be what the key says.
  void set(std::string_view key, std::string_view value);

  // False: the record has no message.
  bool give(Peeled& line, TextPool& pool) const;

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);
};

}  // namespace faultline
