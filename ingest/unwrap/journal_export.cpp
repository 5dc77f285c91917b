#include "ingest/unwrap/journal_export.h"

#include <algorithm>

#include "ingest/unwrap/scan.h"

namespace faultline {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxKeyBytes = 64;  // journald refuses longer ones

// A length beyond this is not a length: the file is damaged, and nothing more would ever be read.
constexpr std::uint64_t kMaxSensibleLength = std::uint64_t{64} << 20;

constexpr std::string_view kFirstKey = "__CURSOR=";

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKeyBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); });
}

bool begins_a_record(std::string_view line) {
  return line.starts_with(kFirstKey) || line.starts_with("__REALTIME_TIMESTAMP=");
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

Step JournalExport::feed(std::string_view line) {
  if (!in_record_) {
    if (!begins_a_record(line)) return Step::not_mine;
    in_record_ = true;
  } else if (key_.empty() && line.starts_with(kFirstKey)) {
    return Step::not_mine;  // the next record, though this one has not ended
  }
  if (!key_.empty()) return feed_binary(line) ? Step::held : Step::not_mine;
  if (line.empty()) return Step::peeled;

  const std::size_t equals = line.find('=');
  const std::string_view key = line.substr(0, equals);
  if (!is_key(key)) return Step::not_mine;
  if (equals == std::string_view::npos)
    key_ = key;
  else
    record_.set(key, line.substr(equals + 1));
  return Step::held;
}

// A binary value comes in lines only because its bytes, or those of its length, happen to contain
// line breaks.
bool JournalExport::feed_binary(std::string_view line) {
  if (length_bytes_.size() < kLengthBytes) {
    const std::string_view bytes = line.substr(0, kLengthBytes - length_bytes_.size());
    length_bytes_ += bytes;
    line.remove_prefix(bytes.size());
    const bool broken_inside = length_bytes_.size() < kLengthBytes;
    if (broken_inside) length_bytes_ += '\n';
    if (length_bytes_.size() < kLengthBytes) return true;
    missing_ = little_endian(length_bytes_);
    if (missing_ > kMaxSensibleLength) return false;
    keep_value_ = JournalRecord::wants(key_) && missing_ <= JournalRecord::kMaxMessageBytes;
    if (broken_inside) return true;
  }
  if (line.size() > missing_) return false;

  const bool complete = line.size() == missing_;
  missing_ -= line.size();
  if (keep_value_) value_ += line;
  if (!complete) {
    --missing_;
    if (keep_value_) value_ += '\n';
    return true;
  }
  if (keep_value_) record_.set(key_, value_);
  key_.clear();
  length_bytes_.clear();
  value_.clear();
  return true;
}

JournalRecord JournalExport::take() {
  JournalRecord record = std::move(record_);
  *this = {};
  return record;
}

void JournalExport::save(SavedWriter& saved) const {
  saved.number(in_record_ ? 1 : 0);
  if (!in_record_) return;
  record_.save(saved);
  saved.text(key_);
  saved.text(length_bytes_);
  saved.number(static_cast<std::int64_t>(missing_));
  saved.number(keep_value_ ? 1 : 0);
  saved.text(value_);
}

void JournalExport::restore(SavedReader& saved) {
  *this = {};
  in_record_ = saved.number() != 0;
  if (!in_record_) return;
  record_.restore(saved);
  key_ = saved.text();
  length_bytes_ = saved.text();
  missing_ = static_cast<std::uint64_t>(saved.number());
  keep_value_ = saved.number() != 0;
  value_ = saved.text();
  if (length_bytes_.size() > kLengthBytes || missing_ > kMaxSensibleLength) *this = {};
}

}  // namespace faultline
