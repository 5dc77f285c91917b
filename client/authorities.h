// The certificate authorities that may vouch for a receiver: its ca_file's and the system's.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// OpenSSL looks for authorities where its build system keeps them. A binary that contains OpenSSL
// also runs on other systems. If none of OpenSSL's places exists, returns the file in which this
// system keeps its authorities, else an empty text. `root` is the root of the system's files.
std::string authorities_elsewhere(const std::filesystem::path& root);

// Why this file cannot serve as a ca_file; empty if it holds certificates.
std::string unfit_as_authorities(const std::string& file);

}  // namespace faultline
