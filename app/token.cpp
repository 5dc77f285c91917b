// faultline token: a token for `serve --tokens`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/manual/command_help.h"
#include "http/certificate.h"
#include "http/query.h"
#include "http/tokens.h"
#include "service/clock.h"

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

std::string check_until(const std::string& text) {
  const auto until = parse_rfc3339(text);
  if (!until) return "must be a time such as 2026-12-31T00:00:00Z";
  return *until > utc_now() ? "" : "is in the past; the token would never be accepted";
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
  CLI::App* command = app.add_subcommand("token", "Make a token for clients of `serve --tokens`");
  auto options = std::make_shared<TokenOptions>();
  command
      ->add_option("NAME", options->name,
                   "The name of the token, which the server's log shows for its requests")
      ->required()
      ->type_name("NAME")
      ->check(CLI::Validator(check_word, ""));
  command
      ->add_option("--scope", options->scope,
                   "What it allows: ingest (send logs), read, operate (review findings, read jobs "
                   "again) or admin (all of these, and delete jobs); several with commas between")
      ->required()
      ->type_name("ingest|read|operate|admin")
      ->check(CLI::Validator(check_scope, ""));
  command
      ->add_option(
          "--certificate", options->certificate,
          "Make no secret: a client with a TLS certificate of this name, and without a token, has "
          "these rights; cn:NAME, dns:NAME, uri:URI or email:ADDRESS. The server needs "
          "--tls-client-ca")
      ->type_name("NAME")
      ->check(CLI::Validator(check_certificate, ""));
  command->add_option("--jobs", options->jobs, "Allow only jobs whose names begin with this")
      ->type_name("PREFIX")
      ->check(CLI::Validator(check_word, ""));
  command
      ->add_option("--until", options->until,
                   "Accept the token until this time, such as 2026-12-31T00:00:00Z")
      ->type_name("TIME")
      ->check(CLI::Validator(check_until, ""));
  command
      ->add_option(
          "--rate", options->rate,
          "Allow at most this many requests a second; a short burst may be ten times as many")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  command->footer(
      "Prints the line for the file of `serve --tokens` on stdout, and the token itself, once, on "
      "stderr:\n"
      "  faultline token cluster --scope ingest >> tokens\n"
      "A running server reads the file again on SIGHUP.");
  command->callback([options, &exit_code] {
    write_token(*options);
    exit_code = kExitGood;
  });
}

}  // namespace faultline
