// Certificates and authorities made by openssl, and the flags with which the real server and the
// real curl use them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "workshop.h"

namespace faultline {

struct Issued {
  std::string subject = "";  // default: the name of its file as common name
  std::string names = "IP:127.0.0.1,DNS:localhost";
  int days = 30;  // negative: it has expired
};

class Certificates {
 public:
  void authority(const std::string& name) {
    make(fmt::format("openssl req -x509 {} -days 30 -keyout {}.key -out {}.pem -subj /CN={}", kKey,
                     name, name, name));
  }

  void issue(const std::string& name, const std::string& by, const Issued& of = {}) {
    workshop_.write("names", "subjectAltName=" + of.names + "\n");
    make(fmt::format("openssl req {} -keyout {}.key -out csr -subj '{}'", kKey, name,
                     of.subject.empty() ? "/CN=" + name : of.subject));
    make(
        fmt::format("openssl x509 -req -in csr -CA {}.pem -CAkey {}.key -CAcreateserial -days {} "
                    "-extfile names -out {}.pem",
                    by, by, of.days, name));
  }

  void make(const std::string& command) { workshop_.make(command + " >/dev/null && touch out"); }

  std::string path(const std::string& file) const { return (workshop_.folder() / file).string(); }
  Workshop& workshop() { return workshop_; }

  // The flags for a server that presents server.pem.
  std::vector<std::string> server_flags(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"--tls-cert", path("server.pem"), "--tls-key", path("server.key")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // The flags of curl for the client of this name; empty: a client without a certificate.
  std::string as(const std::string& client = "", const std::string& trusted = "ca") const {
    std::string flags = "--cacert " + path(trusted + ".pem");
    if (!client.empty())
      flags += fmt::format(" --cert {} --key {}", path(client + ".pem"), path(client + ".key"));
    return flags;
  }

 private:
  static constexpr const char* kKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

  Workshop workshop_;
};

}  // namespace faultline
