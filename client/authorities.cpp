#include "client/authorities.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

namespace faultline {
namespace {

constexpr const char* kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                   // RHEL, Fedora, Amazon Linux
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // the same, newer
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine, Void
};

}  // namespace

std::string authorities_elsewhere(const std::filesystem::path& root) {
  // If the user has set these, OpenSSL uses them and nothing else is needed.
  if (std::getenv(X509_get_default_cert_file_env()) != nullptr ||
      std::getenv(X509_get_default_cert_dir_env()) != nullptr)
    return {};
  const auto there = [&](const char* absolute) {
    std::error_code ignored;
    const auto path = root / std::filesystem::path(absolute).relative_path();
    return std::filesystem::exists(path, ignored) ? path.string() : "";
  };
  if (!there(X509_get_default_cert_file()).empty() || !there(X509_get_default_cert_dir()).empty())
    return {};
  for (const char* bundle : kBundles)
    if (std::string path = there(bundle); !path.empty()) return path;
  return {};
}

std::string unfit_as_authorities(const std::string& file) {
  if (!std::ifstream(file)) return std::strerror(errno);
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(),
                                                                      &X509_STORE_free);
  const bool holds_some = store != nullptr && X509_STORE_load_file(store.get(), file.c_str()) == 1;
  ERR_clear_error();
  return holds_some ? "" : "holds no certificate in PEM";
}

}  // namespace faultline
