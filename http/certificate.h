// What a certificate of a client's says of who it is, and how a file of tokens names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "model/time.h"

typedef struct x509_st X509;

namespace faultline {

// A name has its kind before it: cn:trainer is another than dns:trainer, for an issuer may let
// clients choose the one and not the other. cn: the common name, where there is one alone; dns:,
// uri: and email: alternative names. Names of hosts are in small letters.
struct ClientCertificate {
  std::vector<std::string> names;
  Timestamp until;
};

// Who issued it is not asked here.
ClientCertificate read_client_certificate(const X509& certificate);

// A name as one word of a file: what would end the word is written %20. An error says what it
// lacks.
Result<std::string> certificate_name_in(std::string_view word);
std::string certificate_word(std::string_view name);

Timestamp end_of_certificate(const X509& certificate);  // 1970, where it cannot be read

}  // namespace faultline
