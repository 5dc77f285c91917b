// evidence.yaml and what is asked of it.
#include "rules/knowledge/evidence_catalog.h"

#include <algorithm>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

HostEvidence evidence_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(
      entry, "a kind of evidence",
      {"what", "dialects", "network", "asked", "why", "command", "again", "bears_out"});
  HostEvidence evidence;
  evidence.what = file.text(file.field(entry, "what"), "what");
  if (entry["dialects"]) evidence.dialects = file.texts(entry, "dialects");
  evidence.network = file.flag(entry, "network");
  if (entry["asked"])
    for (const std::string& word : file.texts(entry, "asked"))
      evidence.asked.push_back(enum_word<Lacking>(file.place(entry["asked"]), "asked", word));
  evidence.why = file.text(file.field(entry, "why"), "why");
  evidence.command = file.text(file.field(entry, "command"), "command");
  if (entry["again"]) evidence.again = file.text(entry["again"], "again");
  if (entry["bears_out"])
    for (const std::string& name : file.texts(entry, "bears_out"))
      evidence.bears_out.push_back(require_class(file.place(entry["bears_out"]), name));
  return evidence;
}

}  // namespace

bool HostEvidence::is_told_by(std::string_view dialect) const {
  return std::ranges::any_of(dialects, [&](std::string_view name) {
    if (!name.ends_with('*')) return name == dialect;
    name.remove_suffix(1);
    return dialect.starts_with(name);
  });
}

bool HostEvidence::is_asked(Lacking when) const {
  return std::ranges::find(asked, when) != asked.end();
}

EvidenceCatalog read_evidence(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  EvidenceCatalog catalog;
  for (const auto& entry : file.root()) catalog.push_back(evidence_of(file, entry));
  return catalog;
}

}  // namespace faultline
