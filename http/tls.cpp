#include "http/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

namespace faultline {
namespace {

// TLS sends text in records of at most so many bytes.
constexpr std::size_t kRecord = 16384;

int as_int(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

// The first error in OpenSSL's queue; empties the queue.
std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason is given" : reason;
}

[[noreturn]] void refuse(std::string_view option, const std::string& file, std::string_view mend) {
  throw std::runtime_error(fmt::format("{} {}: {}; {}", option, file, last_error(), mend));
}

std::chrono::system_clock::time_point expiry_of(const SSL_CTX& context) {
  const X509* certificate = SSL_CTX_get0_certificate(&context);
  if (certificate == nullptr) return {};
  return end_of_certificate(*certificate);
}

}  // namespace

TlsChannel::TlsChannel(SSL_CTX& context)
    : ssl_(SSL_new(&context), SSL_free), in_(BIO_new(BIO_s_mem())), out_(BIO_new(BIO_s_mem())) {
  if (!ssl_ || in_ == nullptr || out_ == nullptr) {
    BIO_free(in_);
    BIO_free(out_);
    throw std::bad_alloc();
  }
  // An empty buffer means that more bytes are needed, not that the stream ended.
  BIO_set_mem_eof_return(in_, -1);
  BIO_set_mem_eof_return(out_, -1);
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_accept_state(ssl_.get());
}

TlsChannel::~TlsChannel() { ERR_clear_error(); }

void TlsChannel::feed(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const int taken = BIO_write(in_, bytes.data(), as_int(bytes.size()));
    if (taken <= 0) throw std::bad_alloc();
    bytes = bytes.subspan(static_cast<std::size_t>(taken));
  }
}

TlsChannel::State TlsChannel::failed() {
  const unsigned long code = ERR_peek_error();
  spoke_plainly_ = ERR_GET_LIB(code) == ERR_LIB_SSL && (ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST);
  const long verified = SSL_get_verify_result(ssl_.get());
  failure_ = verified != X509_V_OK ? X509_verify_cert_error_string(verified) : last_error();
  ERR_clear_error();
  return State::failed;
}

TlsChannel::State TlsChannel::read(std::span<char> into, std::size_t& read) {
  read = 0;
  if (!failure_.empty()) return State::failed;
  ERR_clear_error();
  // Each call gives what one record holds.
  int result = 1;
  while (read < into.size()) {
    std::size_t more = 0;
    result = SSL_read_ex(ssl_.get(), into.data() + read, into.size() - read, &more);
    if (result != 1) break;
    read += more;
  }
  if (read > 0) return State::open;  // the next call gets the error again
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return State::wants_bytes;
    case SSL_ERROR_ZERO_RETURN:
      return State::closed;
    default:
      return failed();
  }
}

bool TlsChannel::write(std::string_view text) {
  if (!failure_.empty() || !is_agreed()) return false;
  ERR_clear_error();
  while (!text.empty()) {
    std::size_t written = 0;
    const std::size_t next = std::min(text.size(), kRecord);
    if (SSL_write_ex(ssl_.get(), text.data(), next, &written) != 1) {
      failed();
      return false;
    }
    text.remove_prefix(written);
  }
  return true;
}

bool TlsChannel::is_agreed() const { return SSL_is_init_finished(ssl_.get()) == 1; }

void TlsChannel::say_goodbye() {
  if (failure_.empty() && is_agreed()) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::string TlsChannel::take_output() {
  std::string output(BIO_ctrl_pending(out_), '\0');
  if (output.empty()) return output;
  const int taken = BIO_read(out_, output.data(), as_int(output.size()));
  output.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
  return output;
}

std::shared_ptr<const ClientCertificate> TlsChannel::client_certificate() {
  if (client_certificate_ || !is_agreed()) return client_certificate_;
  const X509* shown = SSL_get0_peer_certificate(ssl_.get());
  const bool verified = (SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) != 0 &&
                        SSL_get_verify_result(ssl_.get()) == X509_V_OK;
  if (shown != nullptr && verified)
    client_certificate_ =
        std::make_shared<const ClientCertificate>(read_client_certificate(*shown));
  ERR_clear_error();  // an extension that cannot be read leaves an error
  return client_certificate_;
}

TlsKeys::TlsKeys(TlsFiles files) : files_(std::move(files)), loaded_(load(files_)) {}

TlsKeys::Loaded TlsKeys::load(const TlsFiles& files) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  // Nobody is there to be asked for the password of a key.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Without tickets, a client that connects again is asked for its certificate again. The option is
  // for TLS 1.2, the number for TLS 1.3.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    refuse("--tls-cert", files.certificate,
           "name a PEM file with the certificate, followed by those of its issuers");
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    refuse("--tls-key", files.key,
           "name a PEM file that holds the key of the certificate, without a password");
  if (!files.client_ca.empty()) {
    if (SSL_CTX_load_verify_locations(context.get(), files.client_ca.c_str(), nullptr) != 1)
      refuse("--tls-client-ca", files.client_ca,
             "name a PEM file with the authorities that issue client certificates");
    SSL_CTX_set_client_CA_list(context.get(), SSL_load_client_CA_file(files.client_ca.c_str()));
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return {.context = context, .expires = expiry_of(*context)};
}

void TlsKeys::reload() {
  Loaded next = load(files_);
  const std::lock_guard lock(mutex_);
  loaded_ = std::move(next);
}

std::unique_ptr<TlsChannel> TlsKeys::channel() const {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock(mutex_);
    context = loaded_.context;
  }
  return std::make_unique<TlsChannel>(*context);
}

std::chrono::system_clock::time_point TlsKeys::expires() const {
  const std::lock_guard lock(mutex_);
  return loaded_.expires;
}

}  // namespace faultline
