// What the program says of itself goes to stderr, and all of it this way: a line for each event,
// with its time, how grave it is, a word for it and what it is about. May be called from any
// thread; a line is written as one.
#pragma once

#include <string_view>
#include <vector>

#include "logging/log_line.h"

namespace faultline {

// Until it is called a program speaks plainly, as commands do.
void set_log_format(LogFormat format);

void say(LogLevel level, std::string_view event, std::string_view message,
         std::vector<LogField> fields = {});

// systemd tells a service in $JOURNAL_STREAM which file its journal is; stderr may be another one
// all the same. The journal has a clock of its own, and reads a mark of priority instead.
bool is_journal(int descriptor, const char* journal_stream);

}  // namespace faultline
