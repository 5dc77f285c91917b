// What can happen to a server, one round each. Unless noted, a round leaves the server running,
// with everything acknowledged.
#pragma once

#include "faults/life.h"

namespace faultline::faults {

// rounds_of_process.cpp
void kill_round(Life& life, Random& random, Verdict& verdict);
void freeze_round(Life& life, Random& random, Verdict& verdict);
void descriptors_round(Life& life, Random& random, Verdict& verdict);
void memory_round(Life& life, Random& random, Verdict& verdict);
void clock_round(Life& life, Random& random, Verdict& verdict);
void rereading_round(Life& life, Random& random, Verdict& verdict);
void housekeeping_round(Life& life, Random& random, Verdict& verdict);
void second_server_round(Life& life, Random& random, Verdict& verdict);

// rounds_of_client.cpp
void drip_round(Life& life, Random& random, Verdict& verdict);

// rounds_of_disk.cpp
void full_disk_round(Life& life, Random& random, Verdict& verdict);
void read_only_round(Life& life, Random& random, Verdict& verdict);
void io_error_round(Life& life, Random& random, Verdict& verdict);
void short_write_round(Life& life, Random& random, Verdict& verdict);
void slow_disk_round(Life& life, Random& random, Verdict& verdict);

// rounds_of_small_disk.cpp; these mount a small disk, begin a new ledger on it, and kill the
// server.
void small_disk_round(Life& life, Random& random, Verdict& verdict);
void read_only_start_round(Life& life, Random& random, Verdict& verdict);
void readiness_round(Life& life, Random& random, Verdict& verdict);

// rounds_of_folder.cpp; the life ends with them.
void removed_folder_round(Life& life, Random& random, Verdict& verdict);
void renamed_folder_round(Life& life, Random& random, Verdict& verdict);

}  // namespace faultline::faults
