// Compares what a server holds with what it has acknowledged. Uses no code of
// the service that decides anything: it reads the database through SQLite's own interface, and the
// API like any client.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "faults/ledger.h"

namespace faultline::faults {

enum class Stage {
  after_fault,  // all that was acknowledged is there, and no more than was sent
  after_rest,   // all that was sent is acknowledged and there
};

// Checks the database alone.
std::vector<std::string> check_database(const Ledger& ledger, const std::filesystem::path& database,
                                        Stage stage);

// Returns what is wrong; empty: nothing. No client may send meanwhile.
std::vector<std::string> check(const Ledger& ledger, const std::filesystem::path& database,
                               int port, Stage stage);

}  // namespace faultline::faults
