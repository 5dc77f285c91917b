// Stacks of a process, by py-spy, Python's faulthandler or gdb.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_stack_dump(std::string_view text);
std::unique_ptr<Document> make_stack_dump();

}  // namespace faultline
