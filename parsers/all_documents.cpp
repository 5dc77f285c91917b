#include "parsers/document.h"
#include "parsers/json_document.h"
#include "parsers/ncclras_text.h"
#include "parsers/tool_transcript.h"

namespace faultline {
namespace {

constexpr DocumentFormat kFormats[] = {
    {"ncclras", begins_ncclras_text, make_ncclras_text},
    {"json", begins_json_document, make_json_document},
    {"tools", begins_tool_transcript, make_tool_transcript},
};

}  // namespace

std::span<const DocumentFormat> all_documents() { return kFormats; }

}  // namespace faultline
