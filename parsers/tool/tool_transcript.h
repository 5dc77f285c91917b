// The output of tools about parts of a machine, as collectors and terminals print it: block after
// block, with prompts, dates and headings between them. pdsh may mix the lines of several hosts.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tool_transcript(std::string_view text);
std::unique_ptr<Document> make_tool_transcript();

}  // namespace faultline
