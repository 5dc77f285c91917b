// Short names of months, as syslog, journalctl and dmesg -T print them in the language of the host.
#pragma once

#include <string_view>

namespace faultline {

// A quick check: if it returns false, take_month finds no month in front, nor behind a year.
bool may_begin_with_month(std::string_view text);

// Takes the name off the front; 0, and nothing taken, if there is none.
unsigned take_month(std::string_view& rest);

}  // namespace faultline
