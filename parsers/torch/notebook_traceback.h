// IPython's tracebacks, as notebooks print them: the name of the exception is at the top too, and
// each frame shows numbered lines of code.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_notebook_traceback(std::string_view text);
std::unique_ptr<Document> make_notebook_traceback();

}  // namespace faultline
