// Who may do what: the tokens of a file. Each line holds the hash of a secret, so that a reader of
// the file cannot use it, or the name of a certificate.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "model/time.h"

namespace faultline {

enum class Scope : unsigned {
  ingest = 1,   // send logs, and see how far they are held
  read = 2,     // ask for answers
  operate = 4,  // review findings
  admin = 8,    // all of these, and delete jobs
};

// Several scopes, as bits.
class Scopes {
 public:
  constexpr Scopes() = default;
  constexpr Scopes(std::initializer_list<Scope> all) {
    for (const Scope scope : all) bits_ |= static_cast<unsigned>(scope);
  }
  constexpr void add(Scope scope) { bits_ |= static_cast<unsigned>(scope); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool any_of(Scopes others) const { return (bits_ & others.bits_) != 0; }
  std::string text() const;  // "ingest,read"

  // Adds the scopes that admin includes.
  constexpr Scopes with_implied() const {
    return any_of({Scope::admin}) ? Scopes{Scope::ingest, Scope::read, Scope::operate, Scope::admin}
                                  : *this;
  }

 private:
  unsigned bits_ = 0;
};

// "ingest,read"; an error names what is wrong.
Result<Scopes> parse_scopes(std::string_view text);

using Sha256 = std::array<unsigned char, 32>;

struct Token {
  std::string name;
  Scopes scopes;
  std::string jobs;  // prefix of the names of its jobs; empty: all
  // Exactly one of `hash` and `certificate` is set.
  std::optional<Sha256> hash;
  std::string certificate;  // a name of it (http/certificate.h)
  std::optional<Timestamp> until;
  int rate = 0;  // requests a second; 0: any number
};

class Tokens {
 public:
  // Each line: NAME SCOPES WHO [jobs=PREFIX] [until=TIME] [rate=N]. WHO is sha256:HASH or the name
  // of a certificate, such as cn:trainer; # begins a comment. An error names the line.
  static Result<Tokens> parse(std::string_view text);

  // Null if no token has this secret. Takes equally long for every secret.
  const Token* with_secret(std::string_view secret) const;

  // The tokens for a certificate with one of these names.
  std::vector<const Token*> with_certificate(const std::vector<std::string>& names) const;

  std::size_t size() const { return all_.size(); }
  const std::vector<Token>& all() const { return all_; }

 private:
  std::vector<Token> all_;
};

// The token as a line of the file.
std::string line_of(const Token& token);

struct NewToken {
  std::string secret;
  Token token;
};

// Makes a secret of 256 random bits, which is stored nowhere.
NewToken new_token(std::string name, Scopes scopes);

}  // namespace faultline
