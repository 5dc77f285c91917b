#include "http/access.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>

#include "http/certificate.h"
#include "service/clock.h"

namespace faultline {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a header that is decoded

Tokens tokens_in(const std::filesystem::path& file, bool certificates) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw std::runtime_error(
        fmt::format("tokens {}: cannot be read: {}", file.string(), std::strerror(errno)));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Result<Tokens> tokens = Tokens::parse(text);
  if (!tokens)
    throw std::runtime_error(fmt::format("tokens {}: {}", file.string(), tokens.error().message));
  for (const Token& token : tokens->all())
    if (!token.certificate.empty() && !certificates)
      throw std::runtime_error(
          fmt::format("tokens {}: {} names a certificate, but the server does not ask clients for "
                      "certificates; use --tls-client-ca",
                      file.string(), printable_name(token.name)));
  return std::move(*tokens);
}

bool take_scheme(std::string_view& value, std::string_view scheme) {
  if (value.size() <= scheme.size() || value[scheme.size()] != ' ' ||
      !equal_ignoring_case(value.substr(0, scheme.size()), scheme))
    return false;
  value.remove_prefix(scheme.size() + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return true;
}

// Empty if `text` is not base64.
std::string from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > kMostBytes) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return {};
  const std::size_t padding = text.size() - (text.find_last_not_of('=') + 1);
  bytes.resize(static_cast<std::size_t>(size) - std::min<std::size_t>(padding, 2));
  return bytes;
}

// For a Basic challenge, a browser opens a password box of its own. Scripts that send
// X-Requested-With, as the page's do, ask for a token themselves.
Problem unknown(const Request& request, std::string detail) {
  Headers challenges{{"WWW-Authenticate", "Bearer realm=\"faultline\""}};
  if (!request.has_header("X-Requested-With"))
    challenges.emplace_back("WWW-Authenticate", "Basic realm=\"faultline\", charset=\"UTF-8\"");
  return {.status = 401, .detail = std::move(detail), .headers = std::move(challenges)};
}

Problem forbidden(std::string detail) { return {.status = 403, .detail = std::move(detail)}; }

// The job that the request is about; empty if it is not about one job.
std::string job_of(const Request& request, const Route& route, std::string_view default_job) {
  if (route.tells == Tells::across_jobs) return {};
  for (const auto& [name, value] : request.path_values)
    if (name == "job") return value;
  const bool takes_job = std::ranges::any_of(
      route.query, [](const Parameter& parameter) { return parameter.name == "job"; });
  if (!takes_job) return {};
  if (auto job = request.query.text("job")) return std::move(*job);
  // A question without a name is about all jobs; an upload without one goes to the default job.
  // Messages that are pushed may name their jobs themselves, which push.cpp looks at.
  if (route.tells == Tells::of_those_it_may) return {};
  return std::string(route.needs.any_of({Scope::ingest}) ? default_job : std::string_view());
}

// The line of the file of tokens that the request may use, or why there is none. A certificate
// counts only if the request shows no token: it adds nothing to a token, not even to one that is
// refused.
std::variant<const Token*, Problem> who_asks(const Request& request, const Tokens& known) {
  if (request.certificate && !request.has_header("Authorization")) {
    const ClientCertificate& certificate = *request.certificate;
    const std::string name = certificate.names.empty() ? "it" : certificate.names.front();
    // The certificate may have expired while the connection was open.
    if (certificate.until <= utc_now())
      return unknown(request,
                     fmt::format("the certificate of this connection was good until {}; connect "
                                 "again with the next one",
                                 to_rfc3339(certificate.until)));
    const std::vector<const Token*> tokens = known.with_certificate(certificate.names);
    if (tokens.empty())
      return unknown(request,
                     fmt::format("this needs a token, or a certificate that has a line in the file "
                                 "of tokens; {} has none",
                                 name));
    // Neither line wins: the order of lines must not decide what is allowed.
    if (tokens.size() > 1)
      return forbidden(
          fmt::format("this certificate has two lines in the file of tokens, {} and "
                      "{}; it is refused until there is only one",
                      tokens[0]->name, tokens[1]->name));
    return tokens.front();
  }
  const std::string secret = secret_of(request);
  if (secret.empty())
    return unknown(request, "this needs a token: -H \"Authorization: Bearer $TOKEN\"");
  const Token* token = known.with_secret(secret);
  if (token == nullptr) return unknown(request, "this token is not known here");
  return token;
}

}  // namespace

std::optional<Problem> beyond_its_jobs(std::string_view jobs, const Request& request,
                                       const Route& route, std::string_view default_job) {
  if (jobs.empty()) return std::nullopt;
  const std::string job = job_of(request, route, default_job);
  if (job.empty() ? route.tells == Tells::of_those_it_may : job.starts_with(jobs))
    return std::nullopt;
  return forbidden(
      fmt::format("this token is for jobs whose names begin with \"{}\"; ask for one of them "
                  "(/api/v1/jobs/JOB, or job=)",
                  jobs));
}

std::string secret_of(const Request& request) {
  std::string_view value = request.header("Authorization");
  if (take_scheme(value, "Bearer") || take_scheme(value, "Splunk")) return std::string(value);
  if (!take_scheme(value, "Basic") && !take_scheme(value, "ApiKey")) return {};
  const std::string pair = from_base64(value);
  const std::size_t colon = pair.find(':');
  return colon == std::string::npos ? std::string() : pair.substr(colon + 1);
}

Access::Access(std::filesystem::path file, bool certificates)
    : file_(std::move(file)),
      certificates_(certificates),
      tokens_(std::make_shared<const Tokens>(tokens_in(file_, certificates_))) {
  if (tokens_->size() > 0) return;
  throw std::runtime_error(
      fmt::format("tokens {}: it holds no token; `faultline token NAME --scope ingest` writes one",
                  file_.string()));
}

std::size_t Access::reload() {
  auto read = std::make_shared<const Tokens>(tokens_in(file_, certificates_));
  const std::size_t count = read->size();
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(read);
  allowances_.clear();
  return count;
}

int Access::wait_of(const Token& token) const {
  constexpr double kSecondsAtOnce = 10;  // a token that was silent may use so much at once
  if (token.rate == 0) return 0;
  const auto now = std::chrono::steady_clock::now();
  const double most = kSecondsAtOnce * token.rate;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = allowances_.try_emplace(token.name, Allowance{most, now});
  Allowance& allowance = found->second;
  const std::chrono::duration<double> since = now - allowance.as_of;
  allowance = {std::min(most, allowance.requests + since.count() * token.rate), now};
  if (allowance.requests < 1)
    return static_cast<int>(std::ceil((1 - allowance.requests) / token.rate));
  --allowance.requests;
  return 0;
}

std::shared_ptr<const Tokens> Access::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

Admission Access::admit(const Request& request, const Route& route,
                        std::string_view default_job) const {
  if (route.needs.empty()) return {};
  const std::shared_ptr<const Tokens> known = tokens();
  auto who = who_asks(request, *known);
  if (Problem* problem = std::get_if<Problem>(&who)) return {{}, {}, std::move(*problem)};
  const Token* token = std::get<const Token*>(who);
  Admission admission{token->name, token->jobs, std::nullopt};
  if (token->until && *token->until <= utc_now())
    admission.refusal =
        unknown(request, fmt::format("this token was good until {}", to_rfc3339(*token->until)));
  else if (!token->scopes.with_implied().any_of(route.needs))
    admission.refusal = forbidden(fmt::format("this needs a token for {}; this one is for {}",
                                              route.needs.text(), token->scopes.text()));
  else if (auto problem = beyond_its_jobs(token->jobs, request, route, default_job))
    admission.refusal = std::move(problem);
  else if (const int wait = wait_of(*token); wait > 0)
    admission.refusal = {.status = 429,
                         .detail = fmt::format("this token allows {} requests a second; ask again "
                                               "in {} s",
                                               token->rate, wait),
                         .next_offset = {},
                         .retry_after_seconds = wait,
                         .headers = {}};
  return admission;
}

}  // namespace faultline
