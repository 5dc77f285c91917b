// systemctl status: whether a service runs, as operators paste it. Lines of the journal below it
// are read as those of any journal.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_systemctl(std::string_view text);
std::unique_ptr<Document> make_systemctl();

}  // namespace faultline
