#include "client/authorities.h"

#include <gtest/gtest.h>
#include <openssl/x509.h>

#include "workshop.h"

namespace faultline {
namespace {

std::string below(const std::filesystem::path& root, const std::string& absolute) {
  return (root / std::filesystem::path(absolute).relative_path()).string();
}

class Authorities : public testing::Test {
 protected:
  // The environment of whoever runs the tests may have set these.
  Authorities() {
    ::unsetenv("SSL_CERT_FILE");
    ::unsetenv("SSL_CERT_DIR");
  }
};

TEST_F(Authorities, AreFoundWhereTheSystemKeepsThem) {
  for (const char* bundle : {"etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt",
                             "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem"}) {
    Workshop system;
    system.write(bundle, "certificates");
    EXPECT_EQ(authorities_elsewhere(system.folder()), below(system.folder(), bundle));
  }
}

TEST_F(Authorities, AreLeftToOpenSslWhereItFindsThem) {
  Workshop system;
  system.write("etc/pki/tls/certs/ca-bundle.crt", "certificates");
  std::filesystem::create_directories(below(system.folder(), X509_get_default_cert_dir()));
  EXPECT_EQ(authorities_elsewhere(system.folder()), "");
}

TEST_F(Authorities, AreThoseThatTheEnvironmentNames) {
  Workshop system;
  system.write("etc/pki/tls/certs/ca-bundle.crt", "certificates");
  ::setenv("SSL_CERT_FILE", "/elsewhere.pem", 1);
  EXPECT_EQ(authorities_elsewhere(system.folder()), "");
}

TEST_F(Authorities, MayBeNone) {
  const Workshop system;
  EXPECT_EQ(authorities_elsewhere(system.folder()), "");
}

TEST(AuthoritiesOfAFile, AreCertificates) {
  Workshop workshop;
  workshop.make(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-keyout key.pem -out cert.pem -subj /CN=ours 2>/dev/null && touch out empty.pem");
  const auto why = [&](const std::string& name) {
    return unfit_as_authorities((workshop.folder() / name).string());
  };
  EXPECT_EQ(why("cert.pem"), "");
  EXPECT_EQ(why("key.pem"), "holds no certificate in PEM");
  EXPECT_EQ(why("empty.pem"), "holds no certificate in PEM");
  EXPECT_EQ(why("absent.pem"), "No such file or directory");
  EXPECT_NE(why(""), "");
}

}  // namespace
}  // namespace faultline
