// What options say of a server that the program asks.
#pragma once

#include <string>

namespace faultline {

// What is wrong with the URL of a server; empty: nothing. It may have a path, and no query.
std::string wrong_server_url(const std::string& text);

}  // namespace faultline
