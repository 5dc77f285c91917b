// What syslog daemons and journalctl put before a message.
#pragma once

#include "ingest/unwrap/peeled.h"

namespace faultline {

// Mar  5 02:47:11 gpu-node-17 kernel: msg (RFC 3164, journalctl's short and short-precise).
bool peel_bsd_syslog(Peeled& line, Timestamp reference);

// "%LINK-3-UPDOWN: text", "*Mar  1 00:01:02.123: %LINK-3-UPDOWN: text" of a switch.
bool peel_switch(Peeled& line, Timestamp reference);

// 1 2026-03-05T02:47:11.123456+00:00 gpu-node-17 kernel - - - msg (RFC 5424, its <pri> already
// off).
bool peel_rfc5424(Peeled& line);

// Any line that begins with an ISO stamp: rsyslog's and journalctl's short-iso have host and tag
// after it, dmesg its message, `kubectl logs --timestamps` and many collectors just the text.
bool peel_iso_stamp(Peeled& line);

// Thu 2026-03-05 02:47:11 UTC gpu-node-17 kernel: msg (journalctl's short-full).
bool peel_weekday_stamp(Peeled& line);

// 1772678831.123456 gpu-node-17 kernel: msg (journalctl's short-unix).
bool peel_unix_stamp(Peeled& line);

// [2026-03-05 02:47:11] text, as log viewers and training scripts print it, and SGLang with a rank
// of its engine: [2026-03-05 02:47:11 TP3] text.
bool peel_bracketed_stamp(Peeled& line);

// 4600.0s text, or 4600.0s, a number and the text between tabs: a notebook's log.
bool peel_seconds_of_notebook(Peeled& line);

// "gpu-node-17 kernel: msg" after a kernel stamp (journalctl's short-monotonic).
bool peel_host_after_uptime(Peeled& line);

// message repeated 3 times: [ msg]
bool peel_repeated(Peeled& line);

}  // namespace faultline
