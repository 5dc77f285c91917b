// TLS: the keys of the server, and the encryption of one connection. Encryption works in memory, so
// that Connection keeps the socket, its deadlines and its wake-ups.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/certificate.h"

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef struct bio_st BIO;

namespace faultline {

struct TlsFiles {
  std::string certificate;  // PEM: the server's own, then those of its issuers
  std::string key;          // PEM
  std::string client_ca;    // PEM: authorities that issue client certificates; empty: none needed
};

// The server's side of a connection.
class TlsChannel {
 public:
  explicit TlsChannel(SSL_CTX& context);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  enum class State { open, wants_bytes, closed, failed };

  // What came from the client's socket.
  void feed(std::span<const char> bytes);

  // Makes the handshake first, then decrypts. open: `read` bytes were written to `into`.
  State read(std::span<char> into, std::size_t& read);

  // False: there was no handshake, or the connection is broken.
  bool write(std::string_view text);
  void say_goodbye();

  bool is_agreed() const;  // the handshake is done

  // What is to be sent to the client's socket; empty: nothing.
  std::string take_output();

  // Why the state is failed; empty if the client just went away.
  const std::string& failure() const { return failure_; }
  // The verified certificate of the client; null: none was asked for, or the handshake is not done.
  std::shared_ptr<const ClientCertificate> client_certificate();
  // Its first bytes were a request without TLS.
  bool spoke_plainly() const { return spoke_plainly_; }

 private:
  State failed();

  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  BIO* in_;   // of ssl_
  BIO* out_;  // of ssl_
  std::string failure_;
  bool spoke_plainly_ = false;
  std::shared_ptr<const ClientCertificate> client_certificate_;
};

// May be used from any thread.
class TlsKeys {
 public:
  // Throws std::runtime_error with one line that names the file and the fix.
  explicit TlsKeys(TlsFiles files);

  // Reads the files again. If it throws, the previous keys stay in force.
  void reload();

  std::unique_ptr<TlsChannel> channel() const;
  std::chrono::system_clock::time_point expires() const;

 private:
  struct Loaded {
    std::shared_ptr<SSL_CTX> context;
    std::chrono::system_clock::time_point expires;
  };
  static Loaded load(const TlsFiles& files);

  TlsFiles files_;
  mutable std::mutex mutex_;
  Loaded loaded_;
};

}  // namespace faultline
