// The readers of the catalog's files. Each throws std::runtime_error with one line of text: the
// file, the line in it, what is wrong and the correction.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

std::map<int, XidMeaning> read_xids(std::string_view file, std::string_view text);
std::map<int, XidMeaning> read_sxids(std::string_view file, std::string_view text);
std::vector<XidDetail> read_xid_details(std::string_view file, std::string_view text);
ConditionsCatalog read_conditions(std::string_view file, std::string_view text);
CountersCatalog read_counters(std::string_view file, std::string_view text);
EvidenceCatalog read_evidence(std::string_view file, std::string_view text);
Grounds read_grounds(std::string_view file, std::string_view text);
FramesCatalog read_frames(std::string_view file, std::string_view text);
PerformanceCatalog read_performance(std::string_view file, std::string_view text);
SettingsCatalog read_settings(std::string_view file, std::string_view text);
std::shared_ptr<const Trouble> read_trouble(std::string_view file, std::string_view text);
void check_trouble(std::string_view file, std::string_view text);  // and tries its samples
std::shared_ptr<const WordHints> read_word_hints(std::string_view file, std::string_view text);
void check_word_hints(std::string_view file, std::string_view text);  // and tries its samples
std::vector<SecretShape> read_secret_shapes(std::string_view file, std::string_view text);
void check_secret_shapes(std::string_view file, std::string_view text);  // and tries its samples
std::vector<CausalLink> read_causality(std::string_view file, std::string_view text);
std::map<Cause, Advice> read_advice(std::string_view file, std::string_view text);

// A faulty signature does not stop the reading of its file.
struct SignatureFile {
  std::vector<MessageSignature> signatures;  // those that can be read
  std::vector<std::string> problems;         // file, line, what is wrong, the correction
};
SignatureFile read_signatures(std::string_view file, std::string_view text);

// A file and its text; `name` is for error messages: a path, or the name of a built-in file.
struct CatalogText {
  std::string name;
  std::string text;
};

// Reads the user's files in this order, tries their samples and reports ids that occur twice.
SignatureFile read_users_signatures(const std::vector<CatalogText>& files);

// Throws std::runtime_error naming the file if it cannot be read.
CatalogText read_catalog_text(const std::filesystem::path& path);

}  // namespace faultline
