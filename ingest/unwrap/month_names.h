// Short names of months, as syslog, journalctl and dmesg -T print them in the language of the host.
#pragma once

#include <string_view>

namespace faultline {

// Quick. Of a text that it denies, take_month knows nothing, nor does it behind a year.
bool may_begin_with_month(std::string_view text);

// Takes the name off the front; 0, and nothing taken, if there is none.
unsigned take_month(std::string_view& rest);

}  // namespace faultline
