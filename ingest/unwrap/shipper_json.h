// The records that log shippers make of lines: a JSON object whose fields hold the line, its time
// and its host. Which fields those are is a table; who wrote the record need not be known.
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

// The fields that were looked for, to be told to a sender whose records have none.
std::string names_of_line_fields();

// Whether a text that may be cut off has such a field, by its looks.
bool names_a_line_field(std::string_view text);

}  // namespace faultline
