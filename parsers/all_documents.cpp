#include "parsers/document.h"
#include "parsers/json_document.h"
#include "parsers/ncclras_text.h"

namespace faultline {
namespace {

constexpr DocumentFormat kFormats[] = {
    {"ncclras", begins_ncclras_text, make_ncclras_text},
    {"json", begins_json_document, make_json_document},
};

}  // namespace

std::span<const DocumentFormat> all_documents() { return kFormats; }

}  // namespace faultline
