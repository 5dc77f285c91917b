// The table of finding_parts: which hosts and GPUs a finding is about, for queries across jobs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// Within the caller's transaction. `finding` is the row's number.
void insert_parts(Database& database, std::int64_t number, const Finding& finding);
void delete_parts(Database& database, std::int64_t number);

// As the functions of Store.
std::vector<std::string> select_hosts_with_findings(Database& database);
std::vector<HostFinding> select_findings_of_host(Database& database, std::string_view host,
                                                 std::size_t limit);
std::map<std::string, HostTally> select_tallies(Database& database,
                                                const std::vector<std::string>& hosts);
std::vector<Offence> select_gpu_offences(Database& database, const std::vector<std::string>& hosts);
std::vector<Offence> select_other_offences(Database& database,
                                           const std::vector<std::string>& hosts);

}  // namespace faultline
