// signatures/*.yaml, and a user's files in the same form.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <stdexcept>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

// nccl.ib.retry_exceeded
bool is_dotted_name(std::string_view id) {
  const bool known_characters = std::ranges::all_of(id, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_' || c == '.';
  });
  return known_characters && id.find('.') != std::string_view::npos && id.front() != '.' &&
         id.back() != '.' && id.find("..") == std::string_view::npos;
}

Storm storm_of(const YamlFile& file, const YamlNode& entry) {
  Storm storm;
  double count = 0;
  file.read_fields(entry, "a storm", {needed("count", count), maybe("within", storm.within)});
  if (count < 1 || count > 1e9)
    file.place(file.field(entry, "count"))
        .refuse(fmt::format("count {} is too small or too large; use 2 or more", count));
  storm.count = static_cast<std::uint64_t>(count);
  return storm;
}

MessageSignature signature_of(const YamlFile& file, const YamlNode& entry) {
  MessageSignature signature;
  const CatalogPlace place = file.place(entry);
  signature.file = fmt::format("{}:{}", place.file, place.line);
  const auto read_id = [&](const YamlNode& node) {
    signature.id = file.text(node, "id");
    if (!is_dotted_name(signature.id))
      file.place(node).refuse(fmt::format(
          "id \"{}\" is not a dotted name; write one such as ours.disk_full", signature.id));
  };
  const auto read_storm = [&](const YamlNode& node) { signature.storm = storm_of(file, node); };
  file.read_fields(entry, "a signature",
                   {needed("id", read_id),
                    needed("class", signature.cause),
                    needed("title", signature.title),
                    maybe("severity", signature.severity),
                    maybe("weight", signature.weight),
                    maybe("blames", signature.blames),
                    maybe("confidence", signature.confidence),
                    maybe("dialect", signature.dialect),
                    maybe("levels", signature.levels),
                    maybe("place", signature.place),
                    needed("literals", signature.literals),
                    needed("pattern", signature.pattern),
                    maybe("versions", signature.versions),
                    maybe("storm", read_storm),
                    maybe("recovers", signature.recovers),
                    maybe("excuses", signature.excuses),
                    maybe("lasts", signature.lasts),
                    maybe("marks", signature.marks),
                    maybe("actions", signature.actions),
                    needed("matches", signature.matches),
                    maybe("matches_not", signature.matches_not)});
  return signature;
}

}  // namespace

SignatureFile read_signatures(std::string_view name, std::string_view text) {
  SignatureFile read;
  const auto guarded = [&](auto&& deed) {
    try {
      deed();
    } catch (const std::runtime_error& error) {
      read.problems.emplace_back(error.what());
    }
  };
  guarded([&] {
    const YamlFile file(name, text);
    if (!file.root().is_list())
      file.place(file.root()).refuse("this is not a list; write signatures, each with an id");
    std::map<std::string, std::size_t> lines;
    for (const YamlNode& entry : file.root().items())
      guarded([&] {
        MessageSignature signature = signature_of(file, entry);
        const CatalogPlace place = file.place(entry);
        const auto [first, is_new] = lines.emplace(signature.id, place.line);
        if (!is_new)
          place.refuse(fmt::format("{} is listed twice, first in line {}; rename one of the two",
                                   signature.id, first->second));
        read.signatures.push_back(std::move(signature));
      });
  });
  return read;
}

SignatureFile read_users_signatures(const std::vector<CatalogText>& files) {
  SignatureFile all;
  std::map<std::string, std::string> places;  // by id
  for (const CatalogText& file : files) {
    SignatureFile read = read_signatures(file.name, file.text);
    std::ranges::move(read.problems, std::back_inserter(all.problems));
    for (MessageSignature& signature : read.signatures) {
      std::ranges::move(problems_of(signature), std::back_inserter(all.problems));
      const auto [first, is_new] = places.emplace(signature.id, signature.file);
      if (!is_new)
        all.problems.push_back(fmt::format("{}: {} is also in {}; rename one of the two",
                                           signature.file, signature.id, first->second));
      all.signatures.push_back(std::move(signature));
    }
  }
  return all;
}

}  // namespace faultline
