#include "service/recent_lines.h"

#include <algorithm>
#include <utility>

#include "service/resend_filter.h"

namespace faultline {
namespace {

// Calls give(line) with each whole line, its newline included, until it returns false.
template <class Give>
void each_line(std::string_view text, Give give) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return;
    if (!give(text.substr(0, newline + 1))) return;
    text.remove_prefix(newline + 1);
  }
}

constexpr std::size_t kNumber = 8;
constexpr std::size_t kMostBytes = kNumber * (1 + RecentLines::kLines);

std::uint64_t take_number_of(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (std::size_t byte = kNumber; byte-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[byte]);
  bytes.remove_prefix(kNumber);
  return number;
}

void add_number_to(std::string& bytes, std::uint64_t number) {
  for (std::size_t byte = 0; byte < kNumber; ++byte)
    bytes += static_cast<char>(number >> (8 * byte) & 0xff);
}

}  // namespace

RecentLines::RecentLines(std::uint64_t server, std::string_view saved)
    : server_(server), added_by_(server) {
  if (saved.size() % kNumber != 0 || saved.size() < kNumber || saved.size() > kMostBytes) return;
  added_by_ = take_number_of(saved);
  while (!saved.empty()) {
    // The lowest bit of a digest is given up for the beginnings of bodies.
    const std::uint64_t number = take_number_of(saved);
    lines_.push_back({.digest = number | 1, .begins_body = (number & 1) != 0});
  }
}

std::size_t RecentLines::known_bytes(std::string_view body) const {
  if (!is_of_earlier_server()) return 0;
  // Where in lines_ the body may begin; of these, where it still matches.
  std::vector<std::size_t> places;
  std::size_t known = 0;
  std::size_t lines = 0;
  bool reached_end = false;
  each_line(body, [&](std::string_view line) {
    const std::uint64_t digest = digest_of(line) | 1;
    if (lines == 0) {
      for (std::size_t at = 0; at < lines_.size(); ++at)
        if (lines_[at].digest == digest) places.push_back(at);
    } else {
      // All that is remembered was found: what follows is new.
      reached_end =
          std::ranges::any_of(places, [&](std::size_t at) { return at + lines == lines_.size(); });
      std::erase_if(places, [&](std::size_t at) {
        return at + lines >= lines_.size() || lines_[at + lines].digest != digest;
      });
    }
    if (places.empty()) return false;
    ++lines;
    known += line.size();
    return true;
  });
  const bool is_all = known == body.size();
  return is_all || reached_end ? known : 0;
}

void RecentLines::begin_body(std::uint64_t offset) {
  end_ = offset;
  begins_body_ = true;
}

void RecentLines::add(std::string_view lines) {
  each_line(lines, [&](std::string_view line) {
    end_ += line.size();
    waiting_.push_back({.digest = digest_of(line) | 1,
                        .end = end_,
                        .begins_body = std::exchange(begins_body_, false)});
    if (waiting_.size() > kLines) waiting_.pop_front();
    return true;
  });
}

std::string RecentLines::saved(std::uint64_t offset) {
  while (!waiting_.empty() && waiting_.front().end <= offset) {
    lines_.push_back(waiting_.front());
    waiting_.pop_front();
    added_by_ = server_;
  }
  std::size_t keep = 0;
  std::size_t bodies = 0;
  while (keep < std::min(lines_.size(), kLines) && bodies < kBodies) {
    ++keep;
    if (lines_[lines_.size() - keep].begins_body) ++bodies;
  }
  lines_.erase(lines_.begin(), lines_.end() - static_cast<std::ptrdiff_t>(keep));
  std::string bytes;
  add_number_to(bytes, added_by_);
  for (const Line& line : lines_)
    add_number_to(bytes, line.begins_body ? line.digest : line.digest - 1);
  return bytes;
}

}  // namespace faultline
