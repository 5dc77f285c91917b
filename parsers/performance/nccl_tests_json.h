// The JSON that nccl-tests write with -J (2.17.3 and later). It says the same as the table.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_nccl_tests_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_nccl_tests_json();

}  // namespace faultline
