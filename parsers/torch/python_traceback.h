// Python's tracebacks, joined over their lines. Those of several ranks may be mixed line by line:
// the labels that launchers and PyTorch put in front tell them apart.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last):";

bool begins_python_traceback(std::string_view text);
// Between two tracebacks: what comes next follows from the one before.
bool chains_tracebacks(std::string_view text);
std::unique_ptr<Document> make_python_traceback();

}  // namespace faultline
