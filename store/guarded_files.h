// GuardedFiles: how SQLite reaches its files here. Two things that SQLite leaves to the disk are
// looked after, for disks and people fail:
//
// - Each page of a database that was made here ends with a checksum of its content and place. A
// page
//   that is read and does not match it is an error that names the page, never an answer.
// - A file that is no longer where it was opened, because somebody removed or replaced it or its
//   folder, takes no syncs: nothing is acknowledged that nobody will find again.
#pragma once

#include <string>

struct sqlite3;

namespace faultline {

// The name to open databases with (sqlite3_open_v2).
const char* guarded_files();

// For a connection on which nothing was done yet. A database that exists already stays as it is.
void keep_checksums_of_pages(sqlite3* database);

bool has_checksums_of_pages(sqlite3* database);

// Of the last failure that was told by guarded files on this thread: what is wrong with which file;
// empty after another failure.
std::string take_complaint_about_files();

}  // namespace faultline
