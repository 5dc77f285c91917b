// UnreadFiles: the files of a log that came while nothing of it could be taken, because as much as
// may wait for the server does. They are not held open: whoever deletes them wants the room. But
// those that are deleted unread are known here, and nowhere else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "ship/log_part.h"
#include "ship/part_mark.h"

namespace faultline {

class UnreadFiles {
 public:
  enum class Place { read, there, nowhere };
  struct Lost {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };

  // Looks at the file that has the log's name now. `open`: the files that are open anyway, and will
  // be read however long that takes.
  void look(const std::string& path, const std::deque<LogPart>& open);
  // Something can be taken again.
  void end_looking();

  // What lies nowhere any more. It is told of once.
  Lost take_lost(const std::function<Place(const PartMark&)>& place_of);

 private:
  struct Unread {
    PartMark mark;
    std::uint64_t bytes = 0;
  };

  void note_current();

  std::vector<Unread> came_;
  // The file that had the log's name last. Its size at its end is known only while it is open.
  OpenDescriptor current_;
  PartMark mark_;
  std::uint64_t taken_ = 0;    // of its bytes
  bool will_be_read_ = false;  // it was open when nothing could be taken any more
};

}  // namespace faultline
