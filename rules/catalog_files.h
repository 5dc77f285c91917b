// The readers of the catalog's files. Each throws std::runtime_error with one line that names the
// file, the line in it and the mend.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/catalog.h"

namespace faultline {

std::map<int, XidMeaning> read_xids(std::string_view file, std::string_view text);
SettingsCatalog read_settings(std::string_view file, std::string_view text);
std::vector<CausalLink> read_causality(std::string_view file, std::string_view text);
std::map<std::string, Advice, std::less<>> read_advice(std::string_view file,
                                                       std::string_view text);

// A file of signatures is read to its end, whatever is wrong with one of them.
struct SignatureFile {
  std::vector<MessageSignature> signatures;  // those that can be read
  std::vector<std::string> problems;         // of the others
};
SignatureFile read_signatures(std::string_view file, std::string_view text);

}  // namespace faultline
