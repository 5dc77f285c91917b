// The records that log shippers make of lines: a JSON object whose fields hold the line, its time
// and its host. A table has the names of these fields; which shipper it was does not matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/step.h"
#include "ingest/unwrap/text_pool.h"
#include "parsers/json/json_text.h"

namespace faultline {

// The objects that a text consists of, with nothing but commas and brackets of a list between.
// Empty: it is something else.
std::vector<std::string_view> split_records(std::string_view text, std::size_t at_most);

// line.text is one whole object.
Step peel_shipper_json(Peeled& line, JsonText& json, TextPool& pool);

// Whether an object has a field that holds a line.
bool is_shipper_json(std::string_view object);

// The fields that are looked for, for a hint to a sender whose records have none.
std::string names_of_line_fields();

// Whether a text, which may be cut off, seems to have such a field.
bool names_a_line_field(std::string_view text);

}  // namespace faultline
