// What dmesg, /dev/kmsg, serial consoles and pstore put around the kernel's messages.
#pragma once

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/text_pool.h"

namespace faultline {

// [ 8423.118204] msg, and with a delta or a caller: [ 8423.118204 <    0.000123>] [   T1946] msg.
// [Tue Mar  5 02:47:11 2026] msg
bool peel_kernel_stamp(Peeled& line);

// kern  :warn  : msg, with any stamp after it.
bool peel_facility(Peeled& line);

// kern.err: Mar  5 02:47:11 gpu-node-17 kernel: msg
bool peel_named_priority(Peeled& line);

// gpu-7: kern: warning: [2026-03-05T02:47:11.123456789Z]: msg, as talosctl prints it.
bool peel_talos(Peeled& line);

// kernel: [ 8423.118204] msg, of which the stamp and the host were cut off.
bool peel_kernel_tag(Peeled& line);

// <4> before anything: a console's level, a syslog priority.
bool peel_priority(Peeled& line);

// 6,1234,98765432,-,caller=T1946;msg
bool peel_kmsg_record(Peeled& line, TextPool& pool);

// " DEVICE=+pci:0000:3b:00.0", which /dev/kmsg gives after a record.
bool is_kmsg_dictionary(std::string_view text);

// Panic#1 Part2
bool is_pstore_header(std::string_view text);

// `dmesg -e`: [Mar 5 02:47] begins a minute, [  +0.543751] counts on from the line before.
class RelativeStamps {
 public:
  bool peel(Peeled& line, Timestamp reference);

  std::int64_t minute_us = -1;  // when the current minute began; -1: none was seen
  std::int64_t passed_us = 0;   // the deltas since
};

}  // namespace faultline
