// RecentLines: recognises lines that a shipper pushes again because the server ended before it
// answered. The shipper may cut them into other bodies than before: rsyslog sends a batch that
// failed line by line.
//
// Programs write equal lines with equal times at any time, so a line alone proves nothing. Lines
// count as sent again only as long as nothing new has come since the server started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

class RecentLines {
 public:
  // What is remembered: the lines of the last bodies, and of these the last.
  static constexpr std::size_t kBodies = 8;
  static constexpr std::size_t kLines = 4096;

  // `server`: a number of this process. `saved` comes from saved(); if it is damaged, nothing is
  // known.
  explicit RecentLines(std::uint64_t server, std::string_view saved = {});

  // Nothing new has come to this server yet.
  bool is_of_earlier_server() const { return added_by_ != server_; }

  // How many bytes at the beginning of the body were pushed before. They are whole lines, and
  // either all of the body, or all that is remembered from some line on.
  std::size_t known_bytes(std::string_view body) const;

  // A body begins at this offset of the source. Bodies without new lines do not count.
  void begin_body(std::uint64_t offset);
  // Whole lines of it, which are new.
  void add(std::string_view lines);

  // What to store with a source that reaches up to this offset: lines behind it are not stored yet,
  // so they must not be known.
  std::string saved(std::uint64_t offset);

 private:
  struct Line {
    std::uint64_t digest = 0;
    std::uint64_t end = 0;  // its offset in the source
    bool begins_body = false;
  };

  std::uint64_t server_;
  std::uint64_t added_by_ = 0;  // the server to which the last line came
  std::deque<Line> lines_;      // stored
  std::deque<Line> waiting_;
  std::uint64_t end_ = 0;
  bool begins_body_ = false;
};

}  // namespace faultline
