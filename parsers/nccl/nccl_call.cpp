#include "parsers/nccl/nccl_call.h"

#include "parsers/scan.h"

namespace faultline {
namespace {

// "comm 0x78cf [nranks=128] stream 0x78d0", and RCCL's " task 0 globalrank 3" after it.
bool read_communicator(Scan& scan, NcclCall& call) {
  if (!scan.skip(" comm ") || !scan.pointer(call.communicator)) return false;
  if (!scan.skip(" [nranks=") || !scan.decimal(call.nranks)) return false;
  if (!scan.skip("] stream ")) return false;
  if (scan.word().empty()) return false;
  if (scan.done()) return true;
  unsigned ignored = 0;
  return scan.skip(" task ") && scan.decimal(ignored) && scan.skip(" globalrank ") &&
         scan.decimal(ignored) && scan.done();
}

}  // namespace

bool parse_nccl_call(std::string_view message, NcclCall& call) {
  while (!message.empty() && (message.back() == '\r' || message.back() == ' '))
    message.remove_suffix(1);
  Scan scan(message);
  call.count_is_size = false;
  call.done = false;
  if (scan.skip("opCount ")) {
    call.function = "(unnamed)";
  } else {
    // A name is one word of letters. Otherwise "x: opCount" in another message would be a call.
    call.function = scan.letters();
    if (call.function.empty() || !scan.skip(": opCount ")) return false;
  }
  if (!scan.hex(call.op_count)) return false;
  if (scan.skip(" DONE")) {
    call.done = true;
    call.count = 0;
    call.datatype = call.operation = call.root = call.nranks = 0;
    call.communicator = 0;
    return scan.done();
  }
  if (scan.skip(" sendbuff ")) {
    scan.word();
    if (!scan.skip(" recvbuff ")) return false;
    scan.word();
    if (!scan.skip(" count ") || !scan.decimal(call.count)) return false;
    std::uint64_t ignored = 0;
    if (scan.skip(" size ") && !scan.decimal(ignored)) return false;  // 2.3.5 prints both
  } else if (scan.skip(" size ")) {
    if (!scan.decimal(call.count)) return false;
    call.count_is_size = true;
  } else {
    return false;
  }
  if (!scan.skip(" datatype ") || !scan.integer(call.datatype)) return false;
  if (!scan.skip(" op ") || !scan.integer(call.operation)) return false;
  call.root = 0;
  if (scan.skip(" root ") && !scan.integer(call.root)) return false;
  return read_communicator(scan, call);
}

}  // namespace faultline
