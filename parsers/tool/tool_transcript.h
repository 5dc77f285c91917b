// The output of tools that look at parts of a machine, as collectors and terminals leave it: block
// after block, with prompts, dates and headings between them, several hosts' lines mixed by pdsh.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tool_transcript(std::string_view text);
std::unique_ptr<Document> make_tool_transcript();

}  // namespace faultline
