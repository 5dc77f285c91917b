#include "ship/own_reader.h"

#include <utility>

#include "ingest/edge_reader.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "rules/knowledge/reader_version.h"

namespace faultline {
namespace {

// A log must not stand still because a server does not answer.
constexpr std::chrono::seconds kLongestForAnswer{3};
constexpr std::chrono::seconds kAskedSoon{1};
// A dump that becomes lines again, or a line that is longer than a block.
constexpr std::chrono::seconds kAskedLater{30};

Timestamp now_by_clock() {
  return std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
}

}  // namespace

OwnReader::OwnReader() {
  const Catalog catalog = load_catalog();
  version_ = reader_version(catalog);
  noteworthy_ = std::make_shared<const AskedByCatalog>(catalog);
}

std::optional<std::string> OwnReader::read(Cursor& cursor, std::string_view bytes) const {
  return read_at_the_edge(cursor, bytes, now_by_clock(), noteworthy_);
}

bool LogMemory::waits(Clock::time_point now) const {
  return asked_at_ && now - *asked_at_ < kLongestForAnswer;
}

bool LogMemory::waits_for_rest(Clock::time_point now) {
  if (now - ask_after_ < kLongestForAnswer) return true;
  ask_after_ = now + kAskedLater;
  return false;
}

void LogMemory::ask(Clock::time_point now) {
  asked_at_ = now;
  ask_after_ = now + kLongestForAnswer + kAskedSoon;
}

void LogMemory::answer(std::optional<Cursor> cursor, Clock::time_point now) {
  if (!waits(now)) return;  // what came meanwhile was sent as it is
  asked_at_.reset();
  cursor_ = std::move(cursor);
  ask_after_ = now + kAskedSoon;
}

std::optional<std::string> LogMemory::read(const OwnReader& reader, std::uint64_t from,
                                           std::string_view bytes, Clock::time_point now) {
  asked_at_.reset();
  if (!cursor_) return std::nullopt;
  std::optional<std::string> blocks;
  const bool is_here = cursor_->offset == from;
  if (is_here) blocks = reader.read(*cursor_, bytes);
  if (!blocks) cursor_.reset();
  if (!blocks) ask_after_ = is_here ? now + kAskedLater : now;
  return blocks;
}

}  // namespace faultline
