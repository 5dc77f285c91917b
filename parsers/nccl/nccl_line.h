// The frame of every NCCL line: who printed it, at which level, and the message.
//
//   node1:615:18953 [2] NCCL INFO AllReduce: opCount 139d …
//   [2025-04-06 22:31:56] node1:615:700 [0] transport/net_ib.cc:1234 NCCL WARN NET/IB : …
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/time.h"

namespace faultline {

enum class NcclLevel { version, info, warn, trace, call, abort };

// Views point into the line it was read from.
struct NcclLine {
  std::string_view host;  // empty if it was cut off
  std::int64_t pid = 0;
  std::int64_t tid = 0;  // 0 if not printed
  int device = -1;       // of the printing thread; -1 if not printed
  NcclLevel level = NcclLevel::info;
  std::string_view timestamp;  // NCCL's own, without the brackets; empty if none
  std::string_view place;      // FILE:LINE, or whatever a plugin printed there
  std::string_view function;   // 2.30.7 and later: warnings name it
  std::string_view message;
  bool merged = false;  // the text holds several lines: this one may be cut, its host wrong
  bool quoted = false;  // other text quotes it
};

// When the line was printed, according to itself: 2.26 and later, and RCCL's microseconds.
std::optional<Timestamp> time_of(const NcclLine& line);

// The NCCL lines in a text: usually one; several if processes wrote into each other's lines; none
// if the text is not NCCL's. Text before the first line, such as a launcher's prefix, is skipped.
std::vector<NcclLine> nccl_lines(std::string_view text);

// A shortcut for the usual case: `text` begins with HOST:PID:TID [DEV] NCCL INFO.
bool read_plain_info(std::string_view text, NcclLine& line);

}  // namespace faultline
