#include "ingest/unwrap/journal_record.h"

#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/scan.h"

namespace faultline {

namespace {

// Host names have 64 bytes at most, identifiers are program names.
constexpr std::size_t kMaxFieldBytes = 256;

constexpr std::string_view kMessage = "MESSAGE";
constexpr std::string_view kKernel = "kernel";

struct Field {
  std::string_view key;
  std::string JournalRecord::* member;
};

constexpr Field kFields[] = {
    {"_HOSTNAME", &JournalRecord::host},
    {"SYSLOG_IDENTIFIER", &JournalRecord::identifier},
    {"_TRANSPORT", &JournalRecord::transport},
    {"SYSLOG_FACILITY", &JournalRecord::facility},
    {"__REALTIME_TIMESTAMP", &JournalRecord::received_us},
    {"_SOURCE_REALTIME_TIMESTAMP", &JournalRecord::written_us},
    {"__MONOTONIC_TIMESTAMP", &JournalRecord::received_uptime_us},
    {"_SOURCE_MONOTONIC_TIMESTAMP", &JournalRecord::written_uptime_us},
};

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  if (!take_number(text, number) || !text.empty()) return std::nullopt;
  return number;
}

}  // namespace

bool JournalRecord::wants(std::string_view key) {
  if (key == kMessage) return true;
  for (const Field& field : kFields)
    if (key == field.key) return true;
  return false;
}

void JournalRecord::set(std::string_view key, std::string_view value) {
  if (key == kMessage) {
    if (value.size() <= kMaxMessageBytes) message = value;
    return;
  }
  for (const Field& field : kFields)
    if (key == field.key && value.size() <= kMaxFieldBytes) this->*field.member = value;
}

bool JournalRecord::give(Peeled& line, TextPool& pool) const {
  if (!message) return false;
  EventTime stamp;
  stamp.wall_us = number_in(written_us.empty() ? received_us : written_us);
  stamp.uptime_us = number_in(written_uptime_us.empty() ? received_uptime_us : written_uptime_us);
  line.stamped(stamp);
  line.named_by_host(pool.copy(host));
  line.in_kernel = identifier == kKernel || transport == kKernel;
  const bool by_program = !identifier.empty()  ? identifier != kKernel
                          : !transport.empty() ? transport != kKernel
                                               : false;
  line.program = pool.copy(identifier);
  if (by_program || number_in(facility).value_or(0) != 0) line.from_user_space = true;
  line.text = without_control_bytes(pool.copy(*message), pool);
  return true;
}

void JournalRecord::save(SavedWriter& saved) const {
  saved.number(message ? 1 : 0);
  if (message) saved.text(*message);
  for (const Field& field : kFields) saved.text(this->*field.member);
}

void JournalRecord::restore(SavedReader& saved) {
  message.reset();
  if (saved.number() != 0) message = saved.text();
  for (const Field& field : kFields) this->*field.member = saved.text();
}

}  // namespace faultline
