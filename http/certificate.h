// The names in the certificate of a client, and how a file of tokens writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "model/time.h"

typedef struct x509_st X509;

namespace faultline {

// A name begins with its kind: cn:trainer is not dns:trainer, because an issuer may let clients
// choose one and not the other. cn: the common name, if there is only one; dns:, uri: and email:
// alternative names. Host names are in small letters.
struct ClientCertificate {
  std::vector<std::string> names;
  Timestamp until;
};

// Does not check who issued it.
ClientCertificate read_client_certificate(const X509& certificate);

// A name as one word of a file: characters that would end the word are escaped (%20). An error says
// what is wrong.
Result<std::string> certificate_name_in(std::string_view word);
std::string certificate_word(std::string_view name);

Timestamp end_of_certificate(const X509& certificate);  // 1970 if it cannot be read

}  // namespace faultline
