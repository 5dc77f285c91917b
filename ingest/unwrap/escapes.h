// Removes what is not text: terminal colours, NUL bytes, escapes.
#pragma once

#include <string_view>

#include "ingest/unwrap/text_pool.h"

namespace faultline {

// Without terminal escape sequences, NUL bytes, a byte order mark and carriage returns at the end.
std::string_view without_control_bytes(std::string_view text, TextPool& pool);

// \x0a and \x5c as /dev/kmsg writes what is not printable.
std::string_view undo_hex_escapes(std::string_view text, TextPool& pool);

}  // namespace faultline
