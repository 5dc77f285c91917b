// Who may vouch for a receiver that nobody has given a ca_file.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// OpenSSL looks where the system that it was built on keeps them. A binary that has OpenSSL in it
// runs on other systems as well: if none of those places is there, this is the file in which this
// system keeps them, else empty. `root` is where the system's files are.
std::string authorities_elsewhere(const std::filesystem::path& root);

}  // namespace faultline
