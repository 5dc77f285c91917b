// The line that NCCL prints when a rank enqueues a call (NCCL_DEBUG_SUBSYS=COLL). Almost every line
// of a verbose log is one, so it is read by hand, left to right, without allocation.
#pragma once

#include <cstdint>
#include <string_view>

namespace faultline {

// A call as printed; views point into the line.
struct NcclCall {
  std::string_view function;  // AllReduce, …; "(unnamed)" in 2.3.5, which printed no name
  std::uint64_t op_count = 0;
  std::uint64_t count = 0;
  int datatype = 0;
  int operation = 0;
  int root = 0;
  std::uint64_t communicator = 0;
  int nranks = 0;
  bool count_is_size = false;
  bool done = false;
};

// message: the text after "NCCL INFO ". False if it is not a call, or was cut before its end.
//
//   AllReduce: opCount 139d sendbuff 0x78d0 … op 0 root 0 comm 0x78cf [nranks=128] stream 0x78d0
//   AllReduce: opCount 1e size 4194304 … op 0 root 0 comm 0x7f8a [nranks=8] stream 0x7f8a
//   AllReduce: opCount 1e DONE
bool parse_nccl_call(std::string_view message, NcclCall& call);

}  // namespace faultline
