// GuardedFiles: how SQLite reaches its files here. It guards against two failures, of the disk and
// of people, that SQLite does not notice:
//
// - Each page of a database that was made here ends with a checksum of its content and place.
//   Reading a page that does not match is an error that names the page.
// - If somebody has removed or replaced an open file or its folder, a sync of the file fails: so
//   nothing is acknowledged that nobody will find again.
#pragma once

#include <string>

struct sqlite3;

namespace faultline {

// The name to open databases with (sqlite3_open_v2).
const char* guarded_files();

// Call it before anything else is done on the connection. An existing database stays as it is.
void keep_checksums_of_pages(sqlite3* database);

bool has_checksums_of_pages(sqlite3* database);

// For a copy whose first page, which tells of the others, is not written first.
void expect_pages_as_in(sqlite3* original, sqlite3* copy);

// What the last failure on this thread was, if guarded files caused it: which file, and what is
// wrong with it; else empty. Clears it.
std::string take_complaint_about_files();

}  // namespace faultline
