// systemctl status, as operators paste it: whether a service runs. The journal lines below it are
// read like any journal.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_systemctl(std::string_view text);
std::unique_ptr<Document> make_systemctl();

}  // namespace faultline
