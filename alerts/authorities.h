// Who may vouch for a receiver: those of its ca_file, and those of the system.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// OpenSSL looks where the system that it was built on keeps them. A binary that has OpenSSL in it
// runs on other systems as well: if none of those places is there, this is the file in which this
// system keeps them, else empty. `root` is where the system's files are.
std::string authorities_elsewhere(const std::filesystem::path& root);

// Why this file cannot say whom to trust: empty if it holds certificates.
std::string unfit_as_authorities(const std::string& file);

}  // namespace faultline
