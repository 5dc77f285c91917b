#include "rules/knowledge/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/embedded.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClasses = "classes.yaml";

template <auto Read>
void check(const CatalogText& file) {
  Read(file.name, file.text);
}

// Files that are not signatures.
struct NamedFile {
  std::string_view name;
  void (*check)(const CatalogText& file);
};
constexpr NamedFile kFiles[] = {
    {"advice.yaml", check<read_advice>},           {"causality.yaml", check<read_causality>},
    {"conditions.yaml", check<read_conditions>},   {"counters.yaml", check<read_counters>},
    {"evidence.yaml", check<read_evidence>},       {"frames.yaml", check<read_frames>},
    {"grounds.yaml", check<read_grounds>},         {"hints.yaml", check<check_word_hints>},
    {"performance.yaml", check<read_performance>}, {"secrets.yaml", check<check_secret_shapes>},
    {"settings.yaml", check<read_settings>},       {"sxid.csv", check<read_sxids>},
    {"trouble.yaml", check<check_trouble>},        {"xid.csv", check<read_xids>},
    {"xid_details.csv", check<read_xid_details>},
};

constexpr std::string_view kSecrets = "secrets.yaml";
constexpr std::string_view kOwnSecrets = "secrets.yaml of the user";

using CatalogTexts = std::map<std::string, CatalogText, std::less<>>;  // by file name

std::vector<fs::path> files_of(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw std::runtime_error(
        fmt::format("{}: is not a folder; name one that holds catalog files", folder.string()));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    // Editors and mounted configuration have files of their own, whose names begin with a dot.
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
  std::vector<std::string_view> names;
  for (const NamedFile& file : kFiles) names.push_back(file.name);
  throw std::runtime_error(fmt::format("{}: no file of the catalog has this name; use {}",
                                       path.string(), any_of(names)));
}

void refuse_classes(const fs::path& path) {
  if (path.filename() != kClasses) return;
  throw std::runtime_error(
      fmt::format("{}: {} is built into the program and cannot be replaced; remove this file",
                  path.string(), kClasses));
}

// Checks a file that does not hold signatures; false: no such file has this name.
bool check_by_name(std::string_view name, const CatalogText& text) {
  const auto* const known = std::ranges::find(kFiles, name, &NamedFile::name);
  if (known == std::end(kFiles)) return false;
  known->check(text);
  return true;
}

// Files of the folder replace those in `texts` with the same name. Returns the signatures in its
// other YAML files, in the order of the files.
std::vector<MessageSignature> take_from(const fs::path& folder, CatalogTexts& texts) {
  std::vector<CatalogText> files;
  for (const fs::path& path : files_of(folder)) {
    refuse_classes(path);
    const auto replaced = texts.find(path.filename().string());
    if (path.filename() == kSecrets)
      texts[std::string(kOwnSecrets)] = read_catalog_text(path);
    else if (replaced != texts.end())
      check_by_name(replaced->first, replaced->second = read_catalog_text(path));
    else if (is_yaml(path))
      files.push_back(read_catalog_text(path));
    else if (path.extension() == ".csv")
      // Other files may be notes. But a CSV file with a misspelled name must not leave the built-in
      // one in force.
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

// A user's shapes are added to the built-in ones and replace only those with the same id: a file
// that adds shapes must not reduce what is hidden.
std::shared_ptr<const Secrets> read_secrets(const CatalogTexts& texts) {
  std::vector<SecretShape> shapes = read(texts, kSecrets, read_secret_shapes);
  if (texts.contains(kOwnSecrets)) {
    read(texts, kOwnSecrets, check_secret_shapes);
    for (SecretShape& own : read(texts, kOwnSecrets, read_secret_shapes)) {
      std::erase_if(shapes, [&](const SecretShape& shape) { return shape.id == own.id; });
      shapes.push_back(std::move(own));
    }
  }
  return std::make_shared<const Secrets>(std::move(shapes), Secrets::Were::checked);
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
  return {.xids = read(texts, "xid.csv", read_xids),
          .sxids = read(texts, "sxid.csv", read_sxids),
          .xid_details = read(texts, "xid_details.csv", read_xid_details),
          .settings = read(texts, "settings.yaml", read_settings),
          .conditions = read(texts, "conditions.yaml", read_conditions),
          .performance = read(texts, "performance.yaml", read_performance),
          .evidence = read(texts, "evidence.yaml", read_evidence),
          .grounds = read(texts, "grounds.yaml", read_grounds),
          .counters =
              std::make_shared<const CountersCatalog>(read(texts, "counters.yaml", read_counters)),
          .causality = read(texts, "causality.yaml", read_causality),
          .advice = read(texts, "advice.yaml", read_advice),
          .signatures =
              std::make_shared<const Signatures>(std::move(signatures), Signatures::Were::checked),
          .frames = read(texts, "frames.yaml", read_frames),
          .trouble = read(texts, "trouble.yaml", read_trouble),
          .hints = read(texts, "hints.yaml", read_word_hints),
          .secrets = read_secrets(texts)};
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
