#include "http/certificate.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <optional>

#include "http/query.h"

namespace faultline {
namespace {

constexpr std::string_view kCommonName = "cn:";
constexpr std::string_view kHostName = "dns:";
constexpr std::array kKinds{kCommonName, kHostName, std::string_view("uri:"),
                            std::string_view("email:")};

std::optional<std::string_view> kind_of(int type) {
  switch (type) {
    case GEN_DNS:
      return kHostName;
    case GEN_URI:
      return "uri:";
    case GEN_EMAIL:
      return "email:";
    default:
      return std::nullopt;
  }
}

std::string in_small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return text;
}

// Ignores a name that a file of tokens cannot hold: it may contain a NUL, at which another reader
// would stop.
void add_name(std::vector<std::string>& names, std::string_view kind, std::string value) {
  if (!check_name("a certificate's name", value)) return;
  if (kind == kHostName) value = in_small_letters(std::move(value));
  names.push_back(std::string(kind) + value);
}

void add_common_name(std::vector<std::string>& names, const X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return;
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, value);
  if (size < 0) return;
  add_name(names, kCommonName,
           {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
  OPENSSL_free(text);
}

void add_alternative_names(std::vector<std::string>& names, const X509& certificate) {
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> all(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    int type = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all.get(), i), &type);
    const auto kind = kind_of(type);
    if (!kind) continue;
    const auto* text = static_cast<const ASN1_STRING*>(value);
    add_name(names, *kind,
             {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
              static_cast<std::size_t>(ASN1_STRING_length(text))});
  }
}

}  // namespace

ClientCertificate read_client_certificate(const X509& certificate) {
  ClientCertificate read{.names = {}, .until = end_of_certificate(certificate)};
  add_common_name(read.names, certificate);
  add_alternative_names(read.names, certificate);
  return read;
}

Result<std::string> certificate_name_in(std::string_view word) {
  const auto* const kind =
      std::ranges::find_if(kKinds, [&](std::string_view known) { return word.starts_with(known); });
  if (kind == kKinds.end())
    return Error{Error::Kind::invalid_input,
                 fmt::format("\"{}\" is not cn:, dns:, uri: or email: followed by a name",
                             printable_name(word))};
  Result<std::string> value = percent_decoded(word.substr(kind->size()));
  if (!value) return value.error();
  if (const auto good = check_name("the certificate's name", *value); !good) return good.error();
  std::vector<std::string> names;
  add_name(names, *kind, std::move(*value));
  return names.front();
}

std::string certificate_word(std::string_view name) {
  std::string word;
  for (const char c : name)
    word += c == ' ' || c == '#' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return word;
}

Timestamp end_of_certificate(const X509& certificate) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &utc) != 1) return {};
  return Timestamp(std::chrono::seconds(timegm(&utc)));
}

}  // namespace faultline
