// evidence.yaml and what is asked of it.
#include "rules/knowledge/evidence_catalog.h"

#include <algorithm>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

HostEvidence evidence_of(const YamlFile& file, const YamlNode& entry) {
  HostEvidence evidence;
  file.read_fields(entry, "a kind of evidence",
                   {needed("what", evidence.what), maybe("kind", evidence.kind),
                    maybe("dialects", evidence.dialects), maybe("network", evidence.network),
                    maybe("asked", evidence.asked), needed("why", evidence.why),
                    needed("command", evidence.command), maybe("again", evidence.again),
                    maybe("bears_out", evidence.bears_out)});
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
  if (!file.root().is_list())
    file.place(file.root()).refuse("this is not a list; write entries, each with what it is");
  for (const YamlNode& entry : file.root().items()) catalog.push_back(evidence_of(file, entry));
  return catalog;
}

}  // namespace faultline
