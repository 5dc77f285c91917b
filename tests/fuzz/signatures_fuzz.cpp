// Whatever a user's file of signatures holds, it is read or refused, and signatures that were read
// can be used. Whatever a line says, a match has valid fields.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace {

using namespace faultline;

void require(bool holds) {
  if (!holds) std::abort();
}

const Catalog& catalog() {
  static const Catalog loaded = load_catalog();
  return loaded;
}

const Signatures& shipped() { return *catalog().signatures; }

void match(const Signatures& signatures, std::string_view text, const char* dialect,
           const char* level) {
  Remark remark;
  remark.dialect = dialect;
  remark.level = level;
  remark.text = text;
  const auto match = signatures.match(remark);
  if (!match) return;
  require(signatures.find(match->signature->id) == match->signature);
  for (const auto& [name, value] : match->fields)
    require(!name.empty() && !value.empty() && text.find(value) != std::string_view::npos);
  if (*level != 'w') require(signatures.wants(text, dialect));
}

void read_as_file(std::string_view text) {
  SignatureFile file = read_users_signatures({{"fuzz.yaml", std::string(text)}});
  for (const std::string& problem : file.problems) require(problem.starts_with("fuzz.yaml:"));
  if (!file.problems.empty()) return;
  const std::vector<MessageSignature> all = file.signatures;
  const Signatures signatures(std::move(file.signatures));
  for (const MessageSignature& signature : all)
    for (const std::string& sample : signature.matches) signatures.wants(sample, signature.dialect);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  match(shipped(), text, "nccl", "warn");
  match(shipped(), text, "nccl", "info");
  match(shipped(), text, "", "");
  match(shipped(), text, "kernel", "");
  match(shipped(), text, "system", "");
  const auto hint = catalog().hints->of(text);
  require(!hint || *hint < catalog().hints->all().size());
  if (text.starts_with("- ")) read_as_file(text);
  return 0;
}
