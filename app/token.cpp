// faultline token: a token for `serve --tokens`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.h"
#include "http/certificate.h"
#include "http/query.h"
#include "http/tokens.h"

namespace faultline {
namespace {

struct TokenOptions {
  std::string name;
  std::string scope;
  std::string jobs;
  std::string certificate;
  std::string until;
  int rate = 0;
};

std::string check_scope(const std::string& text) {
  const auto scopes = parse_scopes(text);
  return scopes ? "" : scopes.error().message;
}

std::string check_word(const std::string& text) {
  const auto good = check_name("a name in the file of tokens", text);
  if (!good) return good.error().message;
  return text.find_first_of(" \t#") == std::string::npos ? "" : "must be one word without #";
}

std::string check_time(const std::string& text) {
  return parse_rfc3339(text) ? "" : "must be a time such as 2026-12-31T00:00:00Z";
}

std::string check_certificate(const std::string& text) {
  const auto name = certificate_name_in(text);
  return name ? "" : name.error().message;
}

void write_token(const TokenOptions& options) {
  NewToken made = new_token(options.name, *parse_scopes(options.scope));
  if (!options.certificate.empty()) {
    made.token.hash.reset();
    made.token.certificate = *certificate_name_in(options.certificate);
  }
  made.token.jobs = options.jobs;
  if (!options.until.empty()) made.token.until = parse_rfc3339(options.until);
  made.token.rate = options.rate;
  fmt::print("{}\n", line_of(made.token));
  if (made.token.hash) fmt::print(stderr, "token (it is not shown again): {}\n", made.secret);
}

}  // namespace

void add_token_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("token",
                         "Make a token for `serve --tokens`: its line of that file goes to "
                         "stdout, the token itself to stderr");
  auto options = std::make_shared<TokenOptions>();
  command
      ->add_option("NAME", options->name,
                   "What the token is called; the server's log names it with each request")
      ->required()
      ->type_name("NAME")
      ->check(CLI::Validator(check_word, ""));
  command
      ->add_option("--scope", options->scope,
                   "What it allows: ingest, read, operate (review findings) or admin (all, and "
                   "deleting jobs); several with commas between")
      ->required()
      ->type_name("SCOPE")
      ->check(CLI::Validator(check_scope, ""));
  command
      ->add_option(
          "--certificate", options->certificate,
          "Make no secret: whoever shows `serve --tls-client-ca` a certificate of this name "
          "and no token has it; cn:NAME, or of its alternative names dns:NAME, uri:URI or "
          "email:ADDRESS")
      ->type_name("NAME")
      ->check(CLI::Validator(check_certificate, ""));
  command->add_option("--jobs", options->jobs, "Allow it only for jobs whose names begin with this")
      ->type_name("PREFIX")
      ->check(CLI::Validator(check_word, ""));
  command
      ->add_option("--until", options->until,
                   "Refuse it from this time on, such as 2026-12-31T00:00:00Z")
      ->type_name("TIME")
      ->check(CLI::Validator(check_time, ""));
  command
      ->add_option("--rate", options->rate,
                   "Allow this many requests a second; those of ten seconds may come at once")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N");
  command->callback([options, &exit_code] {
    write_token(*options);
    exit_code = kExitGood;
  });
}

}  // namespace faultline
