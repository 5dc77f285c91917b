// faultline token: a token for `serve --tokens`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.h"
#include "http/query.h"
#include "http/tokens.h"

namespace faultline {
namespace {

struct TokenOptions {
  std::string name;
  std::string scope;
  std::string jobs;
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

void write_token(const TokenOptions& options) {
  NewToken made = new_token(options.name, *parse_scopes(options.scope));
  made.token.jobs = options.jobs;
  if (!options.until.empty()) made.token.until = parse_rfc3339(options.until);
  made.token.rate = options.rate;
  fmt::print("{}\n", line_of(made.token));
  fmt::print(stderr, "token (it is not shown again): {}\n", made.secret);
}

}  // namespace

void add_token_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("token",
                         "Make a token: prints its line for the file of `serve --tokens` "
                         "to stdout, and the token to stderr");
  auto options = std::make_shared<TokenOptions>();
  command
      ->add_option("NAME", options->name,
                   "Name of the token, which the log shows for requests with it")
      ->required()
      ->check(CLI::Validator(check_word, ""));
  command
      ->add_option("--scope", options->scope,
                   "What it allows: ingest, read, operate (reviews), admin (all, and deleting "
                   "jobs); several with commas")
      ->required()
      ->check(CLI::Validator(check_scope, ""));
  command
      ->add_option("--jobs", options->jobs,
                   "Allow it for jobs whose names begin with this text; by default for all")
      ->check(CLI::Validator(check_word, ""));
  command->add_option("--until", options->until, "Refuse it from this time on (RFC 3339)")
      ->check(CLI::Validator(check_time, ""));
  command
      ->add_option("--rate", options->rate,
                   "Refuse more requests a second than this; ten seconds' worth may come at once")
      ->check(CLI::Range(1, 1'000'000));
  command->callback([options, &exit_code] {
    write_token(*options);
    exit_code = kExitGood;
  });
}

}  // namespace faultline
