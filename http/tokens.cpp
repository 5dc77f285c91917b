#include "http/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "http/certificate.h"
#include "http/query.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr std::pair<std::string_view, Scope> kScopes[] = {{"ingest", Scope::ingest},
                                                          {"read", Scope::read},
                                                          {"operate", Scope::operate},
                                                          {"admin", Scope::admin}};
constexpr std::string_view kHash = "sha256:";
constexpr std::string_view kJobs = "jobs=";
constexpr std::string_view kUntil = "until=";
constexpr std::string_view kRate = "rate=";
// So that a secret that leaked is recognised as one of ours.
constexpr std::string_view kSecret = "flt_";

Sha256 hash_of(std::string_view secret) {
  Sha256 hash{};
  unsigned size = 0;
  if (EVP_Digest(secret.data(), secret.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != hash.size())
    throw std::runtime_error("OpenSSL cannot compute SHA-256");
  return hash;
}

template <class Bytes>
std::string hex_of(const Bytes& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  return std::nullopt;
}

std::optional<Sha256> hash_in(std::string_view hex) {
  Sha256 hash{};
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto high = digit_of(hex[2 * i]);
    const auto low = digit_of(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    hash[i] = static_cast<unsigned char>(*high * 16 + *low);
  }
  return hash;
}

Error wrong(std::string what) { return {Error::Kind::invalid_input, std::move(what)}; }

Result<Token> token_in(const std::vector<std::string_view>& words) {
  if (words.size() < 3) return wrong("is not NAME SCOPES sha256:HASH, nor NAME SCOPES cn:NAME");
  if (const auto good = check_name("its name", words[0]); !good) return good.error();
  Token token;
  token.name = words[0];
  const auto scopes = parse_scopes(words[1]);
  if (!scopes) return scopes.error();
  token.scopes = *scopes;
  if (words[2].starts_with(kHash)) {
    token.hash = hash_in(words[2].substr(kHash.size()));
    if (!token.hash) return wrong("its third word is not sha256: and 64 digits 0-9a-f");
  } else {
    Result<std::string> name = certificate_name_in(words[2]);
    if (!name)
      return wrong(
          fmt::format("its third word is neither sha256:HASH nor the name of a certificate: {}",
                      name.error().message));
    token.certificate = std::move(*name);
  }
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.starts_with(kJobs) && word.size() > kJobs.size()) {
      token.jobs = word.substr(kJobs.size());
      if (const auto good = check_name("the prefix after jobs=", token.jobs); !good)
        return good.error();
    } else if (word.starts_with(kUntil)) {
      token.until = parse_rfc3339(word.substr(kUntil.size()));
      if (!token.until)
        return wrong(fmt::format("\"{}\" is not until= and a time such as 2026-03-05T02:47:10Z",
                                 printable_name(word)));
    } else if (word.starts_with(kRate)) {
      const std::string_view number = word.substr(kRate.size());
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), token.rate);
      if (error != std::errc() || end != number.data() + number.size() || token.rate < 1)
        return wrong(fmt::format("\"{}\" is not rate= and a number of requests a second",
                                 printable_name(word)));
    } else {
      return wrong(fmt::format("\"{}\" is neither jobs=PREFIX nor until=TIME nor rate=N",
                               printable_name(word)));
    }
  }
  return token;
}

}  // namespace

std::string Scopes::text() const {
  std::string text;
  for (const auto& [name, scope] : kScopes)
    if (any_of({scope})) text += fmt::format("{}{}", text.empty() ? "" : ",", name);
  return text;
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto* const known =
        std::ranges::find(kScopes, word, &std::pair<std::string_view, Scope>::first);
    if (known == std::end(kScopes))
      return wrong(
          fmt::format("\"{}\" is no scope; write ingest, read, operate or admin, or "
                      "several with commas",
                      printable_name(word)));
    scopes.add(known->second);
    if (word.size() == text.size()) return scopes;
    text.remove_prefix(word.size() + 1);
  }
}

Result<Tokens> Tokens::parse(std::string_view text) {
  Tokens tokens;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string_view> words = tool_text::words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    Result<Token> token = token_in(words);
    if (!token) return wrong(fmt::format("line {}: {}", number, token.error().message));
    const bool is_known = std::ranges::any_of(
        tokens.all_, [&](const Token& known) { return known.name == token->name; });
    if (is_known)
      return wrong(
          fmt::format("line {}: an earlier line has a token {} too; give each a name of its own",
                      number, printable_name(token->name)));
    const auto same = std::ranges::find_if(tokens.all_, [&](const Token& known) {
      return !known.certificate.empty() && known.certificate == token->certificate;
    });
    if (same != tokens.all_.end())
      return wrong(
          fmt::format("line {}: the token {} has the certificate {} already; give it one line",
                      number, printable_name(same->name), token->certificate));
    tokens.all_.push_back(std::move(*token));
  }
  return tokens;
}

const Token* Tokens::with_secret(std::string_view secret) const {
  const Sha256 hash = hash_of(secret);
  const Token* found = nullptr;
  for (const Token& token : all_)
    if (token.hash && CRYPTO_memcmp(token.hash->data(), hash.data(), hash.size()) == 0)
      found = &token;
  return found;
}

std::vector<const Token*> Tokens::with_certificate(const std::vector<std::string>& names) const {
  std::vector<const Token*> found;
  for (const Token& token : all_)
    if (!token.certificate.empty() && std::ranges::find(names, token.certificate) != names.end())
      found.push_back(&token);
  return found;
}

std::string line_of(const Token& token) {
  std::string line = fmt::format(
      "{} {} {}", token.name, token.scopes.text(),
      token.hash ? std::string(kHash) + hex_of(*token.hash) : certificate_word(token.certificate));
  if (!token.jobs.empty()) line += fmt::format(" {}{}", kJobs, token.jobs);
  if (token.until) line += fmt::format(" {}{}", kUntil, to_rfc3339(*token.until));
  if (token.rate > 0) line += fmt::format(" {}{}", kRate, token.rate);
  return line;
}

NewToken new_token(std::string name, Scopes scopes) {
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
    throw std::runtime_error("OpenSSL has no random numbers");
  NewToken made;
  made.secret = std::string(kSecret) + hex_of(random);
  made.token.name = std::move(name);
  made.token.scopes = scopes;
  made.token.hash = hash_of(made.secret);
  return made;
}

}  // namespace faultline
