#include "alerts/authorities.h"

#include <openssl/x509.h>

#include <cstdlib>

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
  // Whoever sets these means them.
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

}  // namespace faultline
