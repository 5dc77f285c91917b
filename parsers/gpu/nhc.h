// What a node health check (LBNL's nhc and checks built on it) says about the part that failed:
//   ERROR:  nhc:  Health check failed:  check_hw_ib:  No IB port mlx5_7:1 is ACTIVE (…).
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nhc(std::string_view text);
std::unique_ptr<Document> make_nhc();

}  // namespace faultline
