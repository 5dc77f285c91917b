#include "rules/knowledge/reader_version.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <cctype>

#include "rules/knowledge/reader_sources.h"

namespace faultline {
namespace {

constexpr std::size_t kPart = 16;
constexpr std::size_t kWhole = 3 * kPart + 2;

// Texts and their lengths, so that no two lists of texts give the same.
class Sum {
 public:
  Sum& add(std::string_view text) {
    all_ += fmt::format("{}:", text.size());
    all_ += text;
    return *this;
  }
  Sum& add(const std::vector<std::string>& texts) {
    all_ += fmt::format("{};", texts.size());
    for (const std::string& text : texts) add(text);
    return *this;
  }
  std::uint64_t digest() const { return XXH3_64bits(all_.data(), all_.size()); }

 private:
  std::string all_;
};

std::uint64_t sum_of_secrets(const Secrets& secrets) {
  Sum sum;
  for (const SecretShape& shape : secrets.shapes())
    sum.add(shape.id)
        .add(shape.literals)
        .add(shape.words)
        .add(shape.then)
        .add(shape.ends ? "ends" : "")
        .add(fmt::format("{}", shape.least))
        .add(shape.name)
        .add(shape.value)
        .add(shape.pattern)
        .add(shape.cut_pattern);
  return sum.digest();
}

// What decides which lines are kept.
std::uint64_t sum_of_data(const Catalog& catalog) {
  Sum sum;
  for (const MessageSignature& signature : catalog.signatures->all())
    sum.add(signature.id)
        .add(signature.dialect)
        .add(signature.levels)
        .add(signature.place)
        .add(signature.literals)
        .add(signature.pattern);
  const TroubleWords& words = catalog.trouble->words();
  sum.add(words.ends).add(words.fails).add(words.hints).add(words.quiet).add(words.harmless);
  return sum.digest();
}

bool is_version(std::string_view text) {
  if (text.size() != kWhole) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_point = i == kPart || i == 2 * kPart + 1;
    if (is_point ? text[i] != '.' : std::isxdigit(static_cast<unsigned char>(text[i])) == 0)
      return false;
  }
  return true;
}

}  // namespace

std::string reader_version(const Catalog& catalog) {
  return fmt::format("{}.{:016x}.{:016x}", reader_sources(), sum_of_data(catalog),
                     sum_of_secrets(*catalog.secrets));
}

bool hide_the_same(std::string_view version, std::string_view other) {
  return is_version(version) && is_version(other) &&
         version.substr(2 * (kPart + 1)) == other.substr(2 * (kPart + 1));
}

}  // namespace faultline
