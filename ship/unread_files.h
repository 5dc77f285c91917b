// UnreadFiles: the files of a log that came while nothing of it could be taken, because as much as
// may wait for the server does. They are not held open: whoever deletes them wants the room. But
// those that are deleted unread are known here, and nowhere else.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ship/log_part.h"
#include "ship/part_mark.h"

namespace faultline {

class UnreadFiles {
 public:
  struct Lost {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };

  // Looks at the file that has the log's name now. `open`: the files that are open anyway, and will
  // be read however long that takes.
  void look(const std::string& path, const std::deque<LogPart>& open);
  // Something can be taken again. True: nothing could before.
  bool end_looking();

  bool empty() const { return came_.empty(); }
  // Forgets what was read in this file.
  void pass(const LogPart& file);
  // What nobody will find any more, if only what lies in this file is still to be read. It is told
  // of once.
  Lost take_lost(const LogPart& file);

 private:
  struct Unread {
    PartMark mark;
    std::uint64_t bytes = 0;
  };

  void look_at_current();
  void note_current();

  std::vector<Unread> came_;
  // The file that had the log's name last. Its size at its end is known only while it is open.
  OpenDescriptor current_;
  PartMark mark_;
  std::uint64_t taken_ = 0;    // of its bytes
  bool will_be_read_ = false;  // it was open when nothing could be taken any more
};

}  // namespace faultline
