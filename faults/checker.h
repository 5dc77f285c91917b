// Compares what a server holds with what it has acknowledged. Decides with nothing of the service's
// code: it reads the database through SQLite's own interface, and asks the API as anybody can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "faults/ledger.h"

namespace faultline::faults {

enum class Stage {
  after_fault,  // what was acknowledged is there, and of the rest no more than was sent
  after_rest,   // everything was acknowledged by now
};

// Of the database alone.
std::vector<std::string> check_database(const Ledger& ledger, const std::filesystem::path& database,
                                        Stage stage);

// What is wrong; nothing: all is well. Nobody may be sending meanwhile.
std::vector<std::string> check(const Ledger& ledger, const std::filesystem::path& database,
                               int port, Stage stage);

}  // namespace faultline::faults
