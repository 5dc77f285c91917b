// Python's tracebacks over many lines. Those of several ranks may be mixed line by line; the labels
// of launchers and PyTorch separate them.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last):";

bool begins_python_traceback(std::string_view text);
// A line between two tracebacks, which says that the second exception follows from the first.
bool chains_tracebacks(std::string_view text);
std::unique_ptr<Document> make_python_traceback();

}  // namespace faultline
