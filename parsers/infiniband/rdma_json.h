// `rdma -j link` and `rdma -j statistic`: an array with an object for each port.
#pragma once

#include <memory>
#include <string_view>

#include "model/facts/part.h"
#include "parsers/json/json_document.h"

namespace faultline {

inline constexpr std::string_view kRdmaLink = "rdma_link";
inline constexpr std::string_view kRdmaStatistic = "rdma_statistic";

bool begins_rdma_json(std::string_view key);
std::unique_ptr<JsonReport> make_rdma_json();

// Adds a field that rdma prints of a port: another name of the port, or a value.
void add_rdma_value(PartReport& report, std::string_view name, std::string_view value);

}  // namespace faultline
