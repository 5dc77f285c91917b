#include "rules/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "rules/catalog_files.h"
#include "rules/embedded.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kXids = "xid.csv";
constexpr std::string_view kSettings = "settings.yaml";
constexpr std::string_view kCausality = "causality.yaml";
constexpr std::string_view kAdvice = "advice.yaml";

struct CatalogText {
  std::string name;  // for complaints: the path, or the built-in file's name
  std::string text;
};
using CatalogTexts = std::map<std::string, CatalogText, std::less<>>;  // by file name

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof())
    throw std::runtime_error(
        fmt::format("{}: cannot be read; make it a file that this user may read", path.string()));
  return text;
}

void replace_from(const fs::path& folder, CatalogTexts& texts) {
  if (!fs::is_directory(folder))
    throw std::runtime_error(
        fmt::format("{}: is not a folder; name one that holds catalog files", folder.string()));
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto replaced = texts.find(name);
    if (replaced != texts.end()) {
      replaced->second = {entry.path().string(), contents(entry.path())};
      continue;
    }
    // Notes may lie beside the files, but a misspelled name must not leave the built-in file in
    // force.
    const auto extension = entry.path().extension();
    if (extension == ".csv" || extension == ".yaml" || extension == ".yml")
      throw std::runtime_error(
          fmt::format("{}: no file of the catalog has this name; use {}, {}, {} or {}",
                      entry.path().string(), kAdvice, kCausality, kSettings, kXids));
  }
}

CatalogTexts texts_of(const std::optional<fs::path>& override_folder) {
  CatalogTexts texts;
  for (const EmbeddedFile& file : embedded_files())
    texts[std::string(file.name)] = {std::string(file.name), std::string(file.text)};
  if (override_folder) replace_from(*override_folder, texts);
  return texts;
}

template <class Read>
auto read(const CatalogTexts& texts, std::string_view name, Read read_file) {
  const CatalogText& file = texts.at(std::string(name));
  return read_file(file.name, file.text);
}

}  // namespace

const XidMeaning* Catalog::xid(int code) const {
  const auto found = xids.find(code);
  return found == xids.end() ? nullptr : &found->second;
}

const Advice* Catalog::advice_for(std::string_view cause) const {
  const auto found = advice.find(cause);
  return found == advice.end() ? nullptr : &found->second;
}

bool Catalog::explains(std::string_view cause, std::string_view effect, Relation relation) const {
  return std::ranges::any_of(causality, [&](const CausalLink& link) {
    return link.cause == cause && link.effect == effect &&
           std::ranges::find(link.relations, relation) != link.relations.end();
  });
}

Catalog load_catalog(const std::optional<fs::path>& override_folder) {
  const CatalogTexts texts = texts_of(override_folder);
  return {.xids = read(texts, kXids, read_xids),
          .settings = read(texts, kSettings, read_settings),
          .causality = read(texts, kCausality, read_causality),
          .advice = read(texts, kAdvice, read_advice)};
}

}  // namespace faultline
