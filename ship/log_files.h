// The files of a rotated log: nccl.log, nccl.log.1, nccl.log.2.gz, nccl.log-20261128.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ship/log_part.h"
#include "ship/part_mark.h"

namespace faultline {

// The name of the log that a file of this name is a part of, often the name itself.
std::string log_name_of(std::string_view file_name);
bool is_packed_name(std::string_view file_name);

// It is open: by the time that it is read it may have another name, or none.
struct LogFile {
  std::string path;
  OpenDescriptor file;  // not ok(): it cannot be opened
  FileId id;
  double changed_at = 0;  // seconds of the system's clock
  bool packed = false;
  bool is_current = false;  // the log's own name
};

// The files of the log at `path` as they were at one moment, oldest first.
std::vector<LogFile> files_of_log(const std::string& path);

// Whether the content of a packed file begins with the bytes of the mark.
bool begins_with(const LogFile& packed, const BytesMark& head);

// The content of a packed file, as a file that has no name, and the time of the packed one. A
// descriptor that is not ok(): it cannot be unpacked, or is larger than `most`. `folder`: where
// there is room.
OpenDescriptor unpack(const LogFile& packed, const std::string& folder, std::uint64_t most);

}  // namespace faultline
