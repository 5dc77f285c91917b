#include "rules/knowledge/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/embedded.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kXids = "xid.csv";
constexpr std::string_view kXidDetails = "xid_details.csv";
constexpr std::string_view kSxids = "sxid.csv";
constexpr std::string_view kSettings = "settings.yaml";
constexpr std::string_view kCausality = "causality.yaml";
constexpr std::string_view kAdvice = "advice.yaml";
constexpr std::string_view kConditions = "conditions.yaml";
constexpr std::string_view kEvidence = "evidence.yaml";
constexpr std::string_view kGrounds = "grounds.yaml";
constexpr std::string_view kPerformance = "performance.yaml";
constexpr std::string_view kCounters = "counters.yaml";
constexpr std::string_view kFrames = "frames.yaml";
constexpr std::string_view kClasses = "classes.yaml";

using CatalogTexts = std::map<std::string, CatalogText, std::less<>>;  // by file name

std::vector<fs::path> files_of(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw std::runtime_error(
        fmt::format("{}: is not a folder; name one that holds catalog files", folder.string()));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    // Editors and mounted configuration keep files of their own behind a dot.
    if (!entry.path().filename().string().starts_with('.')) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

CatalogTexts built_in_texts() {
  CatalogTexts texts;
  for (const EmbeddedFile& file : embedded_files())
    texts[std::string(file.name)] = {std::string(file.name), std::string(file.text)};
  return texts;
}

bool is_yaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

[[noreturn]] void refuse_name(const fs::path& path) {
  constexpr std::string_view all_but_last[] = {kAdvice,   kCausality, kConditions, kCounters,
                                               kEvidence, kFrames,    kGrounds,    kPerformance,
                                               kSettings, kSxids,     kXids};
  throw std::runtime_error(fmt::format("{}: no file of the catalog has this name; use {} or {}",
                                       path.string(), fmt::join(all_but_last, ", "), kXidDetails));
}

void refuse_classes(const fs::path& path) {
  if (path.filename() != kClasses) return;
  throw std::runtime_error(fmt::format(
      "{}: the program is made from its own {}; no other one can take its place: remove this one",
      path.string(), kClasses));
}

// Files of the folder take the place of those in `texts` that have their name; what is left is
// signatures, in the order of their files.
std::vector<MessageSignature> take_from(const fs::path& folder, CatalogTexts& texts) {
  std::vector<CatalogText> files;
  for (const fs::path& path : files_of(folder)) {
    refuse_classes(path);
    const auto replaced = texts.find(path.filename().string());
    if (replaced != texts.end())
      replaced->second = read_catalog_text(path);
    else if (is_yaml(path))
      files.push_back(read_catalog_text(path));
    else if (path.extension() == ".csv")
      // Notes may lie beside the files, but a misspelled name must not leave the built-in file in
      // force.
      refuse_name(path);
  }
  SignatureFile read = read_users_signatures(files);
  if (!read.problems.empty()) throw std::runtime_error(read.problems.front());
  return std::move(read.signatures);
}

// The samples of these are checked by the tests, not at every start.
std::vector<MessageSignature> built_in_signatures() {
  std::vector<MessageSignature> signatures;
  for (const EmbeddedFile& file : embedded_signatures()) {
    SignatureFile read = read_signatures(file.name, file.text);
    if (!read.problems.empty()) throw std::runtime_error(read.problems.front());
    std::ranges::move(read.signatures, std::back_inserter(signatures));
  }
  return signatures;
}

template <class Read>
auto read(const CatalogTexts& texts, std::string_view name, Read read_file) {
  const CatalogText& file = texts.find(name)->second;
  return read_file(file.name, file.text);
}

// Reads a file that is not signatures; false: it has none of their names.
bool check_by_name(std::string_view name, const CatalogText& file) {
  if (name == kXids)
    read_xids(file.name, file.text);
  else if (name == kXidDetails)
    read_xid_details(file.name, file.text);
  else if (name == kSxids)
    read_sxids(file.name, file.text);
  else if (name == kCausality)
    read_causality(file.name, file.text);
  else if (name == kAdvice)
    read_advice(file.name, file.text);
  else if (name == kSettings)
    read_settings(file.name, file.text);
  else if (name == kConditions)
    read_conditions(file.name, file.text);
  else if (name == kEvidence)
    read_evidence(file.name, file.text);
  else if (name == kGrounds)
    read_grounds(file.name, file.text);
  else if (name == kPerformance)
    read_performance(file.name, file.text);
  else if (name == kCounters)
    read_counters(file.name, file.text);
  else if (name == kFrames)
    read_frames(file.name, file.text);
  else
    return false;
  return true;
}

}  // namespace

const XidMeaning* Catalog::xid(int code) const {
  const auto found = xids.find(code);
  return found == xids.end() ? nullptr : &found->second;
}

const XidMeaning* Catalog::sxid(int code) const {
  const auto found = sxids.find(code);
  return found == sxids.end() ? nullptr : &found->second;
}

const Advice* Catalog::advice_for(Cause cause) const {
  const auto found = advice.find(cause);
  return found == advice.end() ? nullptr : &found->second;
}

bool Catalog::explains(Cause cause, Cause effect, Relation relation) const {
  return std::ranges::any_of(causality, [&](const CausalLink& link) {
    return link.cause == cause && link.effect == effect &&
           std::ranges::find(link.relations, relation) != link.relations.end();
  });
}

Catalog load_catalog(const std::optional<fs::path>& override_folder) {
  CatalogTexts texts = built_in_texts();
  std::vector<MessageSignature> signatures;
  if (override_folder) signatures = take_from(*override_folder, texts);
  std::ranges::move(built_in_signatures(), std::back_inserter(signatures));
  return {
      .xids = read(texts, kXids, read_xids),
      .sxids = read(texts, kSxids, read_sxids),
      .xid_details = read(texts, kXidDetails, read_xid_details),
      .settings = read(texts, kSettings, read_settings),
      .conditions = read(texts, kConditions, read_conditions),
      .performance = read(texts, kPerformance, read_performance),
      .evidence = read(texts, kEvidence, read_evidence),
      .grounds = read(texts, kGrounds, read_grounds),
      .counters = std::make_shared<const CountersCatalog>(read(texts, kCounters, read_counters)),
      .causality = read(texts, kCausality, read_causality),
      .advice = read(texts, kAdvice, read_advice),
      .signatures = std::make_shared<const Signatures>(std::move(signatures)),
      .frames = read(texts, kFrames, read_frames)};
}

CatalogText read_catalog_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof())
    throw std::runtime_error(
        fmt::format("{}: cannot be read; make it a file that this user may read", path.string()));
  return {path.string(), std::move(text)};
}

std::vector<std::string> check_catalog_files(const std::vector<fs::path>& files) {
  std::vector<std::string> problems;
  std::vector<CatalogText> signatures;
  for (const fs::path& path : files) {
    CatalogText file = read_catalog_text(path);
    try {
      refuse_classes(path);
      if (check_by_name(path.filename().string(), file)) continue;
      if (path.extension() == ".csv") refuse_name(path);
      signatures.push_back(std::move(file));
    } catch (const std::runtime_error& error) {
      problems.emplace_back(error.what());
    }
  }
  std::ranges::move(read_users_signatures(signatures).problems, std::back_inserter(problems));
  return problems;
}

}  // namespace faultline
